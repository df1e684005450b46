#define _GNU_SOURCE /* memmem */
#include "os/linux/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kernel_path[] = "/sys/kernel/btf/vmlinux";
static const char tracepoint_prefix[] = "btf_trace_";

enum { MAGIC = 0xeb9f, VERSION = 1, DEEPEST = 16, LONGEST_NAME = 64 };

struct header {
    uint16_t magic;
    uint8_t version;
    uint8_t flags;
    uint32_t header_bytes;
    uint32_t types_at; /* both after the header */
    uint32_t types_bytes;
    uint32_t names_at;
    uint32_t names_bytes;
};

struct type { /* what follows depends on its kind */
    uint32_t name;
    uint32_t info;
    uint32_t size_or_type;
};

struct member {
    uint32_t name;
    uint32_t type;
    uint32_t offset; /* in bits; with a flag of the structure, the upper 8 are the width of a bit field */
};

struct btf {
    void *bytes;
    const char *names;
    size_t names_bytes;
    const char *types;
    uint32_t *places; /* of each type behind the beginning of all, by its number; 0 is void */
    uint32_t count;
};

static enum btf_kind kind_of(const struct type *type)
{
    return (enum btf_kind)(type->info >> 24 & 0x1f);
}

static uint32_t parts_of(const struct type *type)
{
    return type->info & 0xffff;
}

static const struct type *type_at(const struct btf *btf, uint32_t number)
{
    return (const struct type *)(const void *)(btf->types + btf->places[number]);
}

/* How much follows the type itself; SIZE_MAX: its kind is not known. */
static size_t following_bytes(const struct type *type)
{
    switch (kind_of(type)) {
    case BTF_INT:
    case BTF_VARIABLE:
    case BTF_DECLARATION_TAG:
        return 4;
    case BTF_ARRAY:
        return 12;
    case BTF_STRUCT:
    case BTF_UNION:
    case BTF_SECTION:
    case BTF_ENUM_64:
        return (size_t)parts_of(type) * 12;
    case BTF_ENUM:
    case BTF_PROTOTYPE:
        return (size_t)parts_of(type) * 8;
    case BTF_POINTER:
    case BTF_DECLARED:
    case BTF_TYPEDEF:
    case BTF_VOLATILE:
    case BTF_CONST:
    case BTF_RESTRICT:
    case BTF_FUNCTION:
    case BTF_FLOAT:
    case BTF_TYPE_TAG:
        return 0;
    default:
        return SIZE_MAX;
    }
}

/* Counts the types, and notes where they lie once there is room for it. */
static bool walk(struct btf *btf, size_t bytes)
{
    uint32_t count = 1;
    for (size_t at = 0; at < bytes; count++) {
        const struct type *const type = (const struct type *)(const void *)(btf->types + at);
        const size_t left = bytes - at;
        if (left < sizeof *type || following_bytes(type) > left - sizeof *type) {
            return false;
        }
        if (btf->places != NULL) {
            btf->places[count] = (uint32_t)at;
        }
        at += sizeof *type + following_bytes(type);
    }
    btf->count = count;
    return true;
}

static bool understand(struct btf *btf, size_t size)
{
    struct header header;
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, btf->bytes, sizeof header);
    const uint64_t types_end = (uint64_t)header.header_bytes + header.types_at + header.types_bytes;
    const uint64_t names_end = (uint64_t)header.header_bytes + header.names_at + header.names_bytes;
    if (header.magic != MAGIC || header.version != VERSION || types_end > size || names_end > size ||
        header.names_bytes == 0 || (header.header_bytes + header.types_at) % sizeof(uint32_t) != 0) {
        return false;
    }
    btf->names = (const char *)btf->bytes + header.header_bytes + header.names_at;
    btf->names_bytes = header.names_bytes;
    if (btf->names[0] != '\0' || btf->names[btf->names_bytes - 1] != '\0') {
        return false;
    }
    btf->types = (const char *)btf->bytes + header.header_bytes + header.types_at;
    if (!walk(btf, header.types_bytes)) {
        return false;
    }
    btf->places = calloc(btf->count, sizeof btf->places[0]);
    return btf->places != NULL && walk(btf, header.types_bytes);
}

struct btf *btf_from(void *bytes, size_t size)
{
    struct btf *const btf = calloc(1, sizeof *btf);
    if (btf == NULL) {
        free(bytes);
        return NULL;
    }
    btf->bytes = bytes;
    if (!understand(btf, size)) {
        btf_close(btf);
        errno = EINVAL;
        return NULL;
    }
    return btf;
}

struct btf *btf_open(void)
{
    struct stat status;
    const int file = open(kernel_path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return NULL;
    }
    const size_t size = fstat(file, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
    char *const bytes = size > 0 ? malloc(size) : NULL;
    size_t filled = 0;
    for (ssize_t got = 1; bytes != NULL && filled < size && got > 0;) {
        got = read(file, bytes + filled, size - filled);
        filled += got > 0 ? (size_t)got : 0;
    }
    close(file);
    if (bytes == NULL) {
        errno = size > 0 ? ENOMEM : EINVAL;
        return NULL;
    }
    return btf_from(bytes, filled);
}

void btf_close(struct btf *btf)
{
    if (btf != NULL) {
        free(btf->places);
        free(btf->bytes);
        free(btf);
    }
}

/* Every name is there once; the last one ends with a zero. 0, where the name without letters lies: none. */
static uint32_t name_of(const struct btf *btf, const char *text, size_t length)
{
    for (size_t at = 1; at < btf->names_bytes && length > 0; at += strlen(&btf->names[at]) + 1) {
        if (strncmp(&btf->names[at], text, length) == 0 && btf->names[at + length] == '\0') {
            return (uint32_t)at;
        }
    }
    return 0;
}

uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name)
{
    const uint32_t wanted = name_of(btf, name, strlen(name));
    for (uint32_t i = 1; wanted != 0 && i < btf->count; i++) {
        const struct type *const type = type_at(btf, i);
        if (type->name == wanted && kind_of(type) == kind) {
            return i;
        }
    }
    return 0;
}

/* The type behind const, volatile and other names; NULL: void. */
static const struct type *resolved(const struct btf *btf, uint32_t number)
{
    for (int steps = 0; steps < DEEPEST && number > 0 && number < btf->count; steps++) {
        const struct type *const type = type_at(btf, number);
        switch (kind_of(type)) {
        case BTF_TYPEDEF:
        case BTF_VOLATILE:
        case BTF_CONST:
        case BTF_RESTRICT:
        case BTF_TYPE_TAG:
            number = type->size_or_type;
            break;
        default:
            return type;
        }
    }
    return NULL;
}

static bool has_members(const struct type *type)
{
    return type != NULL && (kind_of(type) == BTF_STRUCT || kind_of(type) == BTF_UNION);
}

static uint32_t bytes_of(const struct btf *btf, const struct type *type)
{
    uint32_t parts[3];
    switch (type != NULL ? kind_of(type) : BTF_POINTER) {
    case BTF_POINTER:
        return sizeof(void *);
    case BTF_ARRAY:
        memcpy(parts, type + 1, sizeof parts); /* of what, index, how many */
        type = resolved(btf, parts[0]);
        return type != NULL && kind_of(type) != BTF_ARRAY ? parts[2] * bytes_of(btf, type) : 0;
    default:
        return type->size_or_type;
    }
}

static bool is_signed(const struct type *type)
{
    uint32_t encoding = 0;
    if (type != NULL && kind_of(type) == BTF_INT) {
        memcpy(&encoding, type + 1, sizeof encoding);
    }
    return (encoding >> 24 & 1) != 0;
}

/* `depth` structures without names deep. */
static const struct type *find_member(const struct btf *btf, const struct type *in, uint32_t name, uint32_t *bits, int depth)
{
    const struct member *const members = (const struct member *)(const void *)(in + 1);
    const bool has_widths = in->info >> 31 != 0;
    for (uint32_t i = 0; i < parts_of(in); i++) {
        const struct type *const type = resolved(btf, members[i].type);
        const uint32_t offset = has_widths ? members[i].offset & 0xffffff : members[i].offset;
        if (members[i].name == name && name != 0) {
            *bits += offset;
            return has_widths && members[i].offset >> 24 != 0 ? NULL : type;
        }
        if (members[i].name == 0 && has_members(type) && depth < DEEPEST) {
            uint32_t inner = *bits + offset;
            const struct type *const found = find_member(btf, type, name, &inner, depth + 1);
            if (found != NULL) {
                *bits = inner;
                return found;
            }
        }
    }
    return NULL;
}

bool btf_member(const struct btf *btf, const char *structure, const char *path, struct btf_field *field)
{
    const struct type *const outer = resolved(btf, btf_find(btf, BTF_STRUCT, structure));
    const struct type *type = outer;
    uint32_t bits = 0;
    while (*path != '\0' && has_members(type)) {
        const size_t length = strcspn(path, ".");
        type = find_member(btf, type, name_of(btf, path, length), &bits, 0);
        path += length + (path[length] == '.');
    }
    if (type == NULL || type == outer || *path != '\0' || bits % 8 != 0) {
        return false;
    }
    *field = (struct btf_field){.offset = bits / 8, .bytes = bytes_of(btf, type), .is_signed = is_signed(type)};
    return true;
}

uint32_t btf_tracepoint(const struct btf *btf, const char *name)
{
    char whole[LONGEST_NAME + 1];
    const size_t length = strlen(name);
    if (length >= sizeof whole - (sizeof tracepoint_prefix - 1)) {
        return 0;
    }
    memcpy(whole, tracepoint_prefix, sizeof tracepoint_prefix - 1);
    memcpy(whole + sizeof tracepoint_prefix - 1, name, length + 1);
    return btf_find(btf, BTF_TYPEDEF, whole);
}

/* A typedef of a pointer to a function, whose first parameter is the kernel's own. */
static const struct type *prototype_of(const struct btf *btf, uint32_t tracepoint)
{
    const struct type *const pointer = resolved(btf, tracepoint);
    if (pointer == NULL || kind_of(pointer) != BTF_POINTER) {
        return NULL;
    }
    const struct type *const prototype = resolved(btf, pointer->size_or_type);
    return prototype != NULL && kind_of(prototype) == BTF_PROTOTYPE && parts_of(prototype) > 0 ? prototype : NULL;
}

uint32_t btf_arguments(const struct btf *btf, uint32_t tracepoint)
{
    const struct type *const prototype = prototype_of(btf, tracepoint);
    return prototype != NULL ? parts_of(prototype) - 1 : 0;
}

int32_t btf_argument(const struct btf *btf, uint32_t tracepoint, const char *structure, uint32_t nth)
{
    const struct type *const prototype = prototype_of(btf, tracepoint);
    const uint32_t name = name_of(btf, structure, strlen(structure));
    for (uint32_t i = 1; prototype != NULL && name != 0 && i < parts_of(prototype); i++) {
        uint32_t parameter[2]; /* name, type */
        memcpy(parameter, (const char *)(prototype + 1) + i * sizeof parameter, sizeof parameter);
        const struct type *const pointer = resolved(btf, parameter[1]);
        const struct type *const pointed =
            pointer != NULL && kind_of(pointer) == BTF_POINTER ? resolved(btf, pointer->size_or_type) : NULL;
        if (pointed != NULL && kind_of(pointed) == BTF_STRUCT && pointed->name == name && nth-- == 0) {
            return (int32_t)i - 1;
        }
    }
    return -1;
}
