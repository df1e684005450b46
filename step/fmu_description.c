/* What tauto wrote about an FMU (src/tautochrone/experiments/fmu_folder.py): lines of words between tabs. */
#include "fmu.h"

#include "os/mapped.h"

#include "format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_LIMIT = 6, PATH_BYTES = 4096, BASE = 10 };

#define READ(NAME, TYPE)                                                                                               \
    static double NAME##_read(const void *values, size_t place) { return (double)((const TYPE *)values)[place]; }
#define REALS(NAME, TYPE)                                                                                              \
    READ(NAME, TYPE)                                                                                                   \
    static void NAME##_write(void *values, size_t place, double value) { ((TYPE *)values)[place] = (TYPE)value; }
/* A device may send what an integer does not hold: it becomes the nearest one; what is no number, 0. */
#define INTEGERS(NAME, TYPE, LEAST, MOST)                                                                              \
    READ(NAME, TYPE)                                                                                                   \
    static void NAME##_write(void *values, size_t place, double value)                                                 \
    {                                                                                                                  \
        ((TYPE *)values)[place] = isnan(value)                 ? 0                                                     \
                                  : value >= (double)(MOST)    ? (MOST)                                                \
                                  : value <= (double)(LEAST)   ? (LEAST)                                               \
                                                               : (TYPE)value;                                          \
    }
/* True is 1, in FMI 2 an integer. */
#define BOOLEANS(NAME, TYPE)                                                                                           \
    READ(NAME, TYPE)                                                                                                   \
    static void NAME##_write(void *values, size_t place, double value) { ((TYPE *)values)[place] = value != 0; }

REALS(float64, double)
REALS(float32, float)
INTEGERS(int8, int8_t, INT8_MIN, INT8_MAX)
INTEGERS(uint8, uint8_t, 0, UINT8_MAX)
INTEGERS(int16, int16_t, INT16_MIN, INT16_MAX)
INTEGERS(uint16, uint16_t, 0, UINT16_MAX)
INTEGERS(int32, int32_t, INT32_MIN, INT32_MAX)
INTEGERS(uint32, uint32_t, 0, UINT32_MAX)
INTEGERS(int64, int64_t, INT64_MIN, INT64_MAX)
INTEGERS(uint64, uint64_t, 0, UINT64_MAX)
BOOLEANS(boolean, bool)
BOOLEANS(boolean2, int32_t)

static const struct fmu_type types[] = {
    {"Real", 2, sizeof(double), float64_read, float64_write},
    {"Integer", 2, sizeof(int32_t), int32_read, int32_write},
    {"Boolean", 2, sizeof(int32_t), boolean2_read, boolean2_write},
    {"Float64", 3, sizeof(double), float64_read, float64_write},
    {"Float32", 3, sizeof(float), float32_read, float32_write},
    {"Int8", 3, sizeof(int8_t), int8_read, int8_write},
    {"UInt8", 3, sizeof(uint8_t), uint8_read, uint8_write},
    {"Int16", 3, sizeof(int16_t), int16_read, int16_write},
    {"UInt16", 3, sizeof(uint16_t), uint16_read, uint16_write},
    {"Int32", 3, sizeof(int32_t), int32_read, int32_write},
    {"UInt32", 3, sizeof(uint32_t), uint32_read, uint32_write},
    {"Int64", 3, sizeof(int64_t), int64_read, int64_write},
    {"UInt64", 3, sizeof(uint64_t), uint64_read, uint64_write},
    {"Boolean", 3, sizeof(bool), boolean_read, boolean_write},
};

const struct fmu_type *fmu_type_of(int version, const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].version == version && strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

/* The words of a line; those that are lacking are empty. */
static void split(char *line, char *words[WORDS_LIMIT])
{
    for (int i = 0; i < WORDS_LIMIT; i++) {
        char *const tab = strchr(line, '\t');
        words[i] = line;
        line += tab != NULL ? (size_t)(tab - line) : strlen(line);
        if (tab != NULL) {
            *tab = '\0';
            line = tab + 1;
        }
    }
}

static bool add_to(struct fmu_groups *groups, const struct fmu_type *type, uint32_t reference, uint32_t place)
{
    struct fmu_group *group = groups->groups;
    const struct fmu_group *const end = groups->groups + groups->count;
    while (group < end && group->type != type) {
        group++;
    }
    if (group == end) {
        if (groups->count == FMU_TYPES) {
            return false;
        }
        groups->count++;
        group->type = type;
    }
    group->references[group->count] = reference;
    group->places[group->count] = place;
    group->count++;
    return true;
}

/* "input", type, value reference, name, "discrete" or nothing, start; "output" and "start" in the same way. */
static bool take_variable(struct fmu *fmu, char *words[WORDS_LIMIT])
{
    const struct fmu_type *const type = fmu_type_of(fmu->about.version, words[1]);
    const uint32_t reference = (uint32_t)strtoul(words[2], NULL, BASE);
    if (type == NULL) {
        return false;
    }
    if (strcmp(words[0], "input") == 0 && fmu->inputs < STEP_SIGNALS_LIMIT) {
        struct fmu_groups *const groups = words[4][0] != '\0' ? &fmu->set_discrete : &fmu->set;
        fmu->input_names[fmu->inputs] = words[3];
        fmu->in[fmu->inputs] = strtod(words[5], NULL);
        return add_to(groups, type, reference, fmu->inputs++);
    }
    if (strcmp(words[0], "output") == 0 && fmu->outputs < STEP_SIGNALS_LIMIT) {
        fmu->output_names[fmu->outputs] = words[3];
        return add_to(&fmu->get, type, reference, fmu->outputs++);
    }
    if (strcmp(words[0], "start") == 0 && fmu->about.starts < STEP_SIGNALS_LIMIT) {
        fmu->about.start[fmu->about.starts++] =
            (struct fmu_start){.type = type, .reference = reference, .value = strtod(words[5], NULL)};
        return true;
    }
    return false;
}

static bool take(struct fmu *fmu, char *words[WORDS_LIMIT])
{
    struct fmu_description *const about = &fmu->about;
    const struct {
        const char *name;
        const char **text;
    } texts[] = {{"library", &about->library},
                 {"instance", &about->instance_name},
                 {"token", &about->token},
                 {"resources", &about->resources}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(words[0], texts[i].name) == 0) {
            *texts[i].text = words[1];
            return true;
        }
    }
    if (strcmp(words[0], "can") == 0) {
        about->step_varies = about->step_varies || strcmp(words[1], "vary") == 0;
        about->has_events = about->has_events || strcmp(words[1], "events") == 0;
        about->returns_early = about->returns_early || strcmp(words[1], "early") == 0;
        return true;
    }
    return take_variable(fmu, words);
}

bool fmu_description_read(struct fmu *fmu, const char *folder, char *why, size_t bytes)
{
    char path[PATH_BYTES];
    struct mapped_file file;
    const char *trouble = "the path is too long";
    if (format_text(path, sizeof path, "%s/description", folder) < sizeof path) {
        trouble = mapped_file_open(&file, path);
    }
    if (trouble != NULL) {
        format_text(why, bytes, "%s: the description of the FMU can't be read: %s.", path, trouble);
        return false;
    }
    char *line = file.text;
    for (char *end = memchr(line, '\n', file.bytes); end != NULL;
         end = memchr(line, '\n', (size_t)(file.text + file.bytes - line))) {
        char *words[WORDS_LIMIT];
        *end = '\0';
        split(line, words);
        if (strcmp(words[0], "fmi") == 0) {
            fmu->about.version = (int)strtol(words[1], NULL, BASE);
        } else if (!take(fmu, words)) {
            format_text(why, bytes, "%s: the line '%s' is not known.", path, words[0]);
            return false;
        }
        line = end + 1;
    }
    const struct fmu_description *const about = &fmu->about;
    if ((about->version == 2 || about->version == 3) && about->library != NULL && about->instance_name != NULL &&
        about->token != NULL && about->resources != NULL) {
        return true;
    }
    format_text(why, bytes, "%s: the description of the FMU is not whole.", path);
    return false;
}
