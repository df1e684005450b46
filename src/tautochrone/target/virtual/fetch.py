"""Bring kernels into the cache: from Debian's packages, or from files that somebody has."""

import shutil
from contextlib import suppress
from pathlib import Path

from tautochrone.base.errors import TautoError, UsageError
from tautochrone.target.virtual.apt import ARCHITECTURES
from tautochrone.target.virtual.cache import Tell, folder_of, hash_of, is_whole, sole_writer, whole_folder
from tautochrone.target.virtual.kernels import Kernel, find_kernel, known_kernel, remember_kernel
from tautochrone.target.virtual.packages import bring, by_meta_package
from tautochrone.target.virtual.programs import bring_busybox, find_busybox
from tautochrone.target.virtual.spec import FLAVOURS, canonical_kernel, is_debian, meant_kernel
from tautochrone.target.virtual.vmlinux import read_boot_image


def fetch_kernel(name: str, tell: Tell, *, again: bool = False, look_over: bool = False) -> Kernel:
    """One of Debian's kernels, and the busybox for its guests; brought if it is not here.

    Args:
        tell: told what is being done.
        again: ask for the newest version.
        look_over: read all that is here, modules and all, and bring anew what is damaged.

    Raises:
        UsageError: there is no such kernel.
        MeasuringError: it can't be brought.
        StoreError: the cache can't be written.
    """
    canonical = canonical_kernel(name)
    if not is_debian(canonical):
        raise UsageError(
            f"'{canonical}' is not one of Debian's kernels",
            f"Give your own with --kernel PATH, and this as its --name.{meant_kernel(canonical)}",
        )
    flavour, _, arm = canonical.removeprefix("debian:").partition("/")
    architecture = "aarch64" if arm else "x86_64"
    if not again and not look_over:
        with suppress(TautoError):  # whatever is missing or damaged is brought below
            find_busybox(architecture)
            return find_kernel(canonical)
    with sole_writer(tell):
        bring_busybox(architecture, tell, newest=again)
        known = known_kernel(canonical)
        if known is not None and not again and is_whole(folder_of(known.image)):
            return known
        debian = ARCHITECTURES[architecture]
        meta = f"linux-image-{FLAVOURS[flavour]}{debian}"
        package, place = bring(
            meta, by_meta_package(meta), debian, tell, newest=again, finish=_add_boot_image
        )
        kernel = _of_package(canonical, architecture, f"{package.name}_{package.version}", place)
        remember_kernel(kernel)
        return kernel


def adopt_kernel(name: str, image: Path, modules: Path | None, tell: Tell) -> Kernel:
    """Copy a kernel that somebody has into the cache, under a name.

    Args:
        modules: the folder of its release, ``…/lib/modules/RELEASE``.

    Raises:
        UsageError: the name is taken or malformed, or that is no kernel, or not its modules.
        StoreError: the cache can't be written.
    """
    if name.startswith("debian"):
        raise UsageError(f"--name {name}: names beginning with 'debian' are taken", "Choose another.")
    canonical = canonical_kernel(name)
    try:
        boot = read_boot_image(image.read_bytes(), str(image))
    except OSError as error:
        raise UsageError(f"{image} can't be read: {error.strerror}", "Name a kernel's file.") from error
    if modules is not None and not any(
        (modules / file).is_file() for file in ("modules.order", "modules.dep")
    ):
        inner = modules / "lib" / "modules" / boot.release
        if not inner.is_dir():
            raise UsageError(
                f"there are no modules in {modules}",
                f"Name the folder lib/modules/{boot.release} of this kernel.",
            )
        modules = inner
    with sole_writer(tell) as cache:
        bring_busybox(boot.architecture, tell)
        place = cache / "own" / canonical
        tell(f"{canonical}: copying", 0, 0)
        with whole_folder(place) as content:
            (content / "boot").mkdir()
            (content / "boot" / "image").write_bytes(boot.content)
            _copy_beside(image, boot.release, boot.config, content / "boot")
            if modules is not None:
                shutil.copytree(
                    modules, content / "lib" / "modules" / boot.release,
                    ignore=lambda at, names: [one for one in names if (Path(at) / one).is_symlink()],
                )  # fmt: skip
        kernel = _described(canonical, boot.architecture, boot.release, None, place, "image")
        remember_kernel(kernel)
        return kernel


def _add_boot_image(content: Path) -> None:
    (packed,) = (content / "boot").glob("vmlinuz-*")
    boot = read_boot_image(packed.read_bytes(), packed.name)
    (content / "boot" / f"image-{boot.release}").write_bytes(boot.content)


def _of_package(name: str, architecture: str, package: str, place: Path) -> Kernel:
    (image,) = (place / "boot").glob("image-*")
    return _described(name, architecture, image.name.removeprefix("image-"), package, place, image.name)


def _described(
    name: str, architecture: str, release: str, package: str | None, place: Path, image: str
) -> Kernel:
    def there(path: Path) -> Path | None:
        return path if path.exists() else None

    boot = place / "boot"
    return Kernel(
        name,
        architecture,
        release,
        package,
        boot / image,
        there(place / "lib" / "modules" / release),
        there(boot / f"System.map-{release}"),
        there(boot / f"config-{release}"),
        hash_of(boot / image),
    )


def _copy_beside(image: Path, release: str, config: str | None, boot: Path) -> None:
    """What lies beside a kernel under its release belongs to it; its configuration may be inside it, too."""
    for name in (f"System.map-{release}", f"config-{release}"):
        if (image.parent / name).is_file():
            shutil.copyfile(image.parent / name, boot / name)
    if config is not None:
        (boot / f"config-{release}").write_text(config)
