/* ELF(5), and .note.stapsdt as sys/sdt.h writes it: three addresses, provider, name and arguments ("-4@%eax 8@-24(%rbp)"). */
#include "usdt.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_OF_PROBE = 3, ADDRESSES = 3, WORD = 8, BITS_OF_BYTE = 8 };

struct elf {
    const char *bytes;
    size_t size;
    Elf64_Ehdr head;
};

/* ---- Arguments ----------------------------------------------------------------- */

#if defined __x86_64__
/* As struct pt_regs has them. */
static const struct {
    const char *names; /* by size: 8, 4, 2, 1 bytes */
    uint16_t at;
} registers[] = {
    {"rax eax ax al", 80},     {"rbx ebx bx bl", 40},      {"rcx ecx cx cl", 88},      {"rdx edx dx dl", 96},
    {"rsi esi si sil", 104},   {"rdi edi di dil", 112},    {"rbp ebp bp bpl", 32},     {"rsp esp sp spl", 152},
    {"r8 r8d r8w r8b", 72},    {"r9 r9d r9w r9b", 64},     {"r10 r10d r10w r10b", 56}, {"r11 r11d r11w r11b", 48},
    {"r12 r12d r12w r12b", 24}, {"r13 r13d r13w r13b", 16}, {"r14 r14d r14w r14b", 8},  {"r15 r15d r15w r15b", 0},
};

static const char *read_register(const char *text, uint16_t *at)
{
    if (*text++ != '%') {
        return NULL;
    }
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        for (const char *name = registers[i].names; *name != '\0';) {
            const size_t own = strcspn(name, " ");
            if (own == length && memcmp(name, text, own) == 0) {
                *at = registers[i].at;
                return text + length;
            }
            name += own + (name[own] == ' ');
        }
    }
    return NULL;
}

/* "$5", "%eax", "-24(%rbp)". What is indexed or has a symbol is left out. */
static void read_where(const char *text, struct usdt_argument *argument)
{
    char *end = NULL;
    if (*text == '$') {
        argument->value = strtoll(text + 1, &end, 0);
        argument->where = end != text + 1 && (*end == '\0' || *end == ' ') ? USDT_CONSTANT : USDT_UNKNOWN;
        return;
    }
    if (*text == '%') {
        const char *const behind = read_register(text, &argument->at);
        argument->where = behind != NULL && (*behind == '\0' || *behind == ' ') ? USDT_REGISTER : USDT_UNKNOWN;
        return;
    }
    argument->value = strtoll(text, &end, 0);
    const char *const behind = *end == '(' ? read_register(end + 1, &argument->at) : NULL;
    argument->where = behind != NULL && *behind == ')' ? USDT_MEMORY : USDT_UNKNOWN;
}
#elif defined __aarch64__
static const char *read_register(const char *text, uint16_t *at)
{
    enum { STACK_POINTER = 31, REGISTERS = 31, BASE = 10 };
    if (strncmp(text, "sp", 2) == 0) {
        *at = STACK_POINTER * WORD;
        return text + 2;
    }
    char *end = NULL;
    const long number = *text == 'x' || *text == 'w' ? strtol(text + 1, &end, BASE) : REGISTERS;
    *at = (uint16_t)(number * WORD);
    return number >= 0 && number < REGISTERS && end != text + 1 ? end : NULL;
}

/* "5", "x0", "[sp, 16]". */
static void read_where(const char *text, struct usdt_argument *argument)
{
    char *end = NULL;
    if (*text == '[') {
        const char *behind = read_register(text + 1, &argument->at);
        if (behind != NULL && *behind == ',') {
            argument->value = strtoll(behind + 1 + (behind[1] == ' '), &end, 0);
            behind = end;
        }
        argument->where = behind != NULL && *behind == ']' ? USDT_MEMORY : USDT_UNKNOWN;
        return;
    }
    const char *const behind = read_register(text, &argument->at);
    if (behind != NULL) {
        argument->where = *behind == '\0' || *behind == ' ' ? USDT_REGISTER : USDT_UNKNOWN;
        return;
    }
    argument->value = strtoll(text, &end, 0);
    argument->where = end != text && (*end == '\0' || *end == ' ') ? USDT_CONSTANT : USDT_UNKNOWN;
}
#else
static void read_where(const char *text, struct usdt_argument *argument)
{
    (void)text;
    argument->where = USDT_UNKNOWN;
}
#endif

/* "-4@%eax 8@$5": the size is below 0 where the argument is signed. */
static void read_arguments(const char *text, struct usdt_site *site)
{
    enum { BASE = 10 };
    for (int i = 0; i < USDT_ARGUMENTS && *text != '\0'; i++) {
        struct usdt_argument *const argument = &site->arguments[i];
        char *end = NULL;
        const long bytes = strtol(text, &end, BASE);
        const long size = bytes < 0 ? -bytes : bytes;
        if (*end != '@' || (size != 1 && size != 2 && size != 4 && size != WORD)) {
            return;
        }
        argument->bytes = (uint8_t)size;
        argument->is_signed = bytes < 0;
        read_where(end + 1, argument);
#if defined __aarch64__
        if (end[1] == '[') { /* it has a blank inside */
            text = strchr(end, ']');
        }
#endif
        text = text != NULL ? text + strcspn(text, " ") : "";
        text += *text == ' ';
    }
}

/* ---- The file ------------------------------------------------------------------ */

/* A part of the file; NULL: it reaches beyond the end. */
static const void *part(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset ? elf->bytes + offset : NULL;
}

/* Where in the file the byte of this address lies; 0: nowhere. */
static uint64_t offset_of(const struct elf *elf, uint64_t address)
{
    for (uint32_t i = 0; i < elf->head.e_phnum; i++) {
        Elf64_Phdr segment;
        const void *const at = part(elf, elf->head.e_phoff + (uint64_t)i * sizeof segment, sizeof segment);
        if (at == NULL) {
            return 0;
        }
        memcpy(&segment, at, sizeof segment);
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz) {
            return address - segment.p_vaddr + segment.p_offset;
        }
    }
    return 0;
}

static bool section_of(const struct elf *elf, uint32_t number, Elf64_Shdr *section)
{
    const void *const at = part(elf, elf->head.e_shoff + (uint64_t)number * sizeof *section, sizeof *section);
    if (at == NULL) {
        return false;
    }
    memcpy(section, at, sizeof *section);
    return true;
}

/* The section of this name. */
static bool find_section(const struct elf *elf, const char *name, Elf64_Shdr *found)
{
    Elf64_Shdr names;
    const size_t bytes = strlen(name) + 1;
    if (!section_of(elf, elf->head.e_shstrndx, &names)) {
        return false;
    }
    for (uint32_t i = 0; i < elf->head.e_shnum && section_of(elf, i, found); i++) {
        const char *const own = part(elf, names.sh_offset + found->sh_name, bytes);
        if (own != NULL && memcmp(own, name, bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* The text behind `*from`, and `*from` behind that; NULL: it has no end. */
static const char *next_text(const char *texts, size_t bytes, size_t *from)
{
    const char *const text = texts + *from;
    const char *const end = *from < bytes ? memchr(text, '\0', bytes - *from) : NULL;
    *from = end != NULL ? (size_t)(end - texts) + 1 : bytes;
    return end != NULL ? text : NULL;
}

/* False: it is another probe. A file whose addresses were changed has its base elsewhere than its notes say. */
static bool read_site(const struct elf *elf, const char *note, size_t bytes, uint64_t base, const char *provider,
                      const char *name, struct usdt_site *site)
{
    uint64_t addresses[ADDRESSES];
    size_t from = sizeof addresses;
    if (bytes < sizeof addresses) {
        return false;
    }
    memcpy(addresses, note, sizeof addresses);
    const char *const of = next_text(note, bytes, &from);
    const char *const own = next_text(note, bytes, &from);
    const char *const arguments = next_text(note, bytes, &from);
    if (arguments == NULL || strcmp(of, provider) != 0 || strcmp(own, name) != 0) {
        return false;
    }
    const uint64_t moved = base != 0 ? base - addresses[1] : 0;
    *site = (struct usdt_site){.offset = offset_of(elf, addresses[0] + moved)};
    site->semaphore = addresses[2] != 0 ? offset_of(elf, addresses[2] + moved) : 0;
    read_arguments(arguments, site);
    return site->offset != 0;
}

static size_t padded(size_t bytes)
{
    enum { STEP = 4 };
    return (bytes + STEP - 1) / STEP * STEP;
}

static void look_through(const struct elf *elf, const char *provider, const char *name,
                         void (*visit)(void *argument, const struct usdt_site *site), void *argument)
{
    Elf64_Shdr notes;
    Elf64_Shdr base = {0};
    if (!find_section(elf, ".note.stapsdt", &notes)) {
        return;
    }
    const char *const all = part(elf, notes.sh_offset, notes.sh_size);
    const uint64_t base_address = find_section(elf, ".stapsdt.base", &base) ? base.sh_addr : 0;
    for (size_t at = 0; all != NULL && at < notes.sh_size;) {
        Elf64_Nhdr head;
        struct usdt_site site;
        if (notes.sh_size - at < sizeof head) {
            return;
        }
        memcpy(&head, all + at, sizeof head);
        const size_t from = at + sizeof head + padded(head.n_namesz);
        if (from > notes.sh_size || head.n_descsz > notes.sh_size - from) {
            return;
        }
        if (head.n_type == NOTE_OF_PROBE && read_site(elf, all + from, head.n_descsz, base_address, provider, name, &site)) {
            visit(argument, &site);
        }
        at = from + padded(head.n_descsz);
    }
}

void usdt_sites(const char *path, const char *provider, const char *name,
                void (*visit)(void *argument, const struct usdt_site *site), void *argument)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat told;
    if (file < 0) {
        return;
    }
    if (fstat(file, &told) == 0 && S_ISREG(told.st_mode) && told.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        void *const mapped = mmap(NULL, (size_t)told.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped != MAP_FAILED) {
            struct elf elf = {.bytes = mapped, .size = (size_t)told.st_size};
            memcpy(&elf.head, mapped, sizeof elf.head);
            if (memcmp(elf.head.e_ident, ELFMAG, SELFMAG) == 0 && elf.head.e_ident[EI_CLASS] == ELFCLASS64 &&
                elf.head.e_phentsize == sizeof(Elf64_Phdr) && elf.head.e_shentsize == sizeof(Elf64_Shdr)) {
                look_through(&elf, provider, name, visit, argument);
            }
            munmap(mapped, (size_t)told.st_size);
        }
    }
    close(file);
}
