/* The kernel's description of its own types (BTF, Documentation/bpf/btf.rst), as far as programs at its tracepoints need it:
 * where a member of a structure lies, and what a tracepoint hands over. */
#ifndef TAUTO_LINUX_BTF_H
#define TAUTO_LINUX_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum btf_kind {
    BTF_INT = 1,
    BTF_POINTER = 2,
    BTF_ARRAY = 3,
    BTF_STRUCT = 4,
    BTF_UNION = 5,
    BTF_ENUM = 6,
    BTF_DECLARED = 7, /* a structure, and no more than that */
    BTF_TYPEDEF = 8,
    BTF_VOLATILE = 9,
    BTF_CONST = 10,
    BTF_RESTRICT = 11,
    BTF_FUNCTION = 12,
    BTF_PROTOTYPE = 13,
    BTF_VARIABLE = 14,
    BTF_SECTION = 15,
    BTF_FLOAT = 16,
    BTF_DECLARATION_TAG = 17,
    BTF_TYPE_TAG = 18,
    BTF_ENUM_64 = 19,
};

struct btf;

struct btf_field {
    uint32_t offset; /* bytes */
    uint32_t bytes;
    bool is_signed;
};

/* Of the kernel that runs. NULL with errno set; EINVAL: it is not understood. */
struct btf *btf_open(void);
/* The same from a copy of it, memory of malloc() that is freed with it, also on failure. */
struct btf *btf_from(void *bytes, size_t size);
/* NULL is allowed. */
void btf_close(struct btf *btf);

/* The number of the type, 0 where there is none. */
uint32_t btf_find(const struct btf *btf, enum btf_kind kind, const char *name);
/* `path` names a member, or a member of a member: "thread_info.cpu". Structures without a name are looked into. False where
 * there is none, or it is a bit field. */
bool btf_member(const struct btf *btf, const char *structure, const char *path, struct btf_field *field);

/* What the tracepoint `name` hands over. The type of its programs; 0: the kernel has no such tracepoint. */
uint32_t btf_tracepoint(const struct btf *btf, const char *name);
uint32_t btf_arguments(const struct btf *btf, uint32_t tracepoint);
/* Which argument is the `nth` pointer to this structure, from 0; -1: none. */
int32_t btf_argument(const struct btf *btf, uint32_t tracepoint, const char *structure, uint32_t nth);

#endif
