/* elf(5), and the demangler of libstdc++. */
#define _GNU_SOURCE
#include "symbols.h"

#include "format.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file that was asked last: sites come from few files. */
static struct {
    char path[512];
    const unsigned char *data; /* NULL: none */
    size_t bytes;
} opened;

void symbols_close(void)
{
    if (opened.data != NULL) {
        munmap((void *)opened.data, opened.bytes);
        opened.data = NULL;
    }
    opened.path[0] = '\0';
}

static void open_file(const char *path)
{
    struct stat status;
    symbols_close();
    const size_t length = strlen(path);
    if (length >= sizeof opened.path) {
        return;
    }
    memcpy(opened.path, path, length + 1);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > (off_t)sizeof(ElfW(Ehdr))) {
        void *const data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data != MAP_FAILED) {
            opened.data = data;
            opened.bytes = (size_t)status.st_size;
        }
    }
    close(file);
}

static bool lies_within(uint64_t begin, uint64_t bytes)
{
    return begin <= opened.bytes && bytes <= opened.bytes - begin;
}

/* The name in this table of symbols; NULL: it has none. A file of somebody: nothing that it says is believed. */
static const char *look_up(const ElfW(Shdr) * table, const ElfW(Shdr) * strings, uint64_t at, uint64_t *behind)
{
    const size_t count = table->sh_size / sizeof(ElfW(Sym));
    if (!lies_within(table->sh_offset, table->sh_size) || !lies_within(strings->sh_offset, strings->sh_size) ||
        strings->sh_size == 0 || opened.data[strings->sh_offset + strings->sh_size - 1] != '\0') {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        ElfW(Sym) symbol;
        memcpy(&symbol, opened.data + table->sh_offset + i * sizeof symbol, sizeof symbol);
        const int type = symbol.st_info & 0xf;
        if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && at >= symbol.st_value &&
            at - symbol.st_value < symbol.st_size && symbol.st_name < strings->sh_size) {
            *behind = at - symbol.st_value;
            return (const char *)opened.data + strings->sh_offset + symbol.st_name;
        }
    }
    return NULL;
}

static const char *find_in_file(uint64_t at, uint64_t *behind)
{
    ElfW(Ehdr) header;
    memcpy(&header, opened.data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
        !lies_within(header.e_shoff, (uint64_t)header.e_shnum * sizeof(ElfW(Shdr)))) {
        return NULL;
    }
    const char *found = NULL;
    for (size_t i = 0; i < header.e_shnum && found == NULL; i++) {
        ElfW(Shdr) table;
        ElfW(Shdr) strings;
        memcpy(&table, opened.data + header.e_shoff + i * sizeof table, sizeof table);
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) && table.sh_link < header.e_shnum) {
            memcpy(&strings, opened.data + header.e_shoff + table.sh_link * sizeof strings, sizeof strings);
            found = look_up(&table, &strings, at, behind);
        }
    }
    return found;
}

typedef char *(*demangler)(const char *mangled, char *out, size_t *bytes, int *status);

static char *demangled(const char *name)
{
    void *const library = strncmp(name, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
    void *const found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    if (found == NULL) {
        return NULL;
    }
    demangler demangle = NULL;
    memcpy(&demangle, &found, sizeof demangle);
    int status = 0;
    return demangle(name, NULL, NULL, &status);
}

bool symbol_find(const char *path, uint64_t at, char *name, size_t bytes, uint64_t *behind)
{
    if (strcmp(opened.path, path) != 0) {
        open_file(path);
    }
    const char *const found = opened.data != NULL ? find_in_file(at, behind) : NULL;
    if (found == NULL) {
        return false;
    }
    char *const plain = demangled(found);
    format_text(name, bytes, "%s", plain != NULL ? plain : found);
    free(plain);
    return true;
}
