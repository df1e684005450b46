/*
 * A client of a servant behind Cyclone DDS, written a second time for the tests: it shares cubit.idl with the program
 * under test, and nothing else. Its domain comes from the environment (CYCLONEDDS_URI).
 *
 * usage: dds_caller PREFIX SECONDS
 *
 * PREFIX: of the servant's topics. Says "nobody" and ends where the servant was not found in so many seconds, else
 * "found". Then each line of standard input is one request: WANTS KIND NUMBERS…, where WANTS is 0, 1 or 2 as in
 * cubit.idl, and KIND the number that its union has for it. For each but one-way ones (1) a line comes back: the number
 * of the request, the kind of the answer, and its numbers; or "silent" after the same number of seconds.
 */
#include "cubit.h"

#include <dds/dds.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1 << 20, LONGS = 6, OCTETS = 7 };

static char line[LINE_BYTES];
static int32_t longs[LINE_BYTES / 2];
static uint8_t octets[LINE_BYTES / 2];

static dds_entity_t topic(dds_entity_t participant, const char *prefix, const char *end,
                          const dds_topic_descriptor_t *descriptor)
{
    char name[256];
    snprintf(name, sizeof name, "%s_%s", prefix, end);
    return dds_create_topic(participant, descriptor, name, NULL, NULL);
}

static void read_numbers(Cubit_Datum *datum, char **rest)
{
    uint32_t count = 0;
    double numbers[3] = {0};
    for (char *word = strtok_r(NULL, " \n", rest); word != NULL; word = strtok_r(NULL, " \n", rest)) {
        if (count < 3) {
            numbers[count] = strtod(word, NULL);
        }
        longs[count] = (int32_t)strtol(word, NULL, 10);
        octets[count] = (uint8_t)strtol(word, NULL, 10);
        count++;
    }
    switch (datum->_d) {
    case 1: datum->_u.o = octets[0]; break;
    case 2: datum->_u.s = (int16_t)longs[0]; break;
    case 3: datum->_u.l = longs[0]; break;
    case 4: datum->_u.d = numbers[0]; break;
    case 5: datum->_u.many = (Cubit_Many){octets[0], longs[1], (int16_t)longs[2]}; break;
    case LONGS: datum->_u.longs = (Cubit_Longs){count, count, longs, false}; break;
    case OCTETS: datum->_u.octets = (Cubit_Octets){count, count, octets, false}; break;
    case 8: datum->_u.timed = (Cubit_Timed){octets[0], 0}; break;
    default: break;
    }
}

static void print_numbers(const Cubit_Datum *datum)
{
    switch (datum->_d) {
    case 1: printf(" %u", datum->_u.o); break;
    case 2: printf(" %d", datum->_u.s); break;
    case 3: printf(" %" PRId32, datum->_u.l); break;
    case 4: printf(" %.17g", datum->_u.d); break;
    case 5: printf(" %u %" PRId32 " %d", datum->_u.many.o, datum->_u.many.l, datum->_u.many.s); break;
    case LONGS:
        for (uint32_t i = 0; i < datum->_u.longs._length; i++) printf(" %" PRId32, datum->_u.longs._buffer[i]);
        break;
    case OCTETS:
        for (uint32_t i = 0; i < datum->_u.octets._length; i++) printf(" %u", datum->_u.octets._buffer[i]);
        break;
    case 8: printf(" %u %" PRId64, datum->_u.timed.value, datum->_u.timed.arrived_ns); break;
    default: break;
    }
}

static bool is_matched(dds_entity_t reader, dds_entity_t writer)
{
    dds_subscription_matched_status_t read;
    dds_publication_matched_status_t written;
    return dds_get_subscription_matched_status(reader, &read) == 0 && read.current_count > 0 &&
           dds_get_publication_matched_status(writer, &written) == 0 && written.current_count > 0;
}

/* Each side finds the other at its own time. */
static bool is_answered(dds_entity_t reader, dds_entity_t writer)
{
    const Cubit_Request greeting = {.number = 0, .wants = 2};
    if (!is_matched(reader, writer) || dds_write(writer, &greeting) != 0) {
        return false;
    }
    dds_sleepfor(DDS_MSECS(100));
    void *sample = NULL;
    dds_sample_info_t info;
    const bool answered = dds_take(reader, &sample, &info, 1, 1) == 1;
    if (answered) {
        dds_return_loan(reader, &sample, 1);
    }
    return answered;
}

static bool print_answer(dds_entity_t reader, double seconds)
{
    for (int i = 0; i < (int)(seconds * 1000); i++) {
        void *sample = NULL;
        dds_sample_info_t info;
        if (dds_take(reader, &sample, &info, 1, 1) == 1) {
            const Cubit_Reply *const reply = sample;
            if (reply->number == 0) { // to an earlier greeting
                dds_return_loan(reader, &sample, 1);
                continue;
            }
            printf("%" PRIu64 " %u", reply->number, reply->result._d);
            print_numbers(&reply->result);
            puts("");
            dds_return_loan(reader, &sample, 1);
            return true;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    const double seconds = strtod(argv[2], NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const dds_entity_t participant = dds_create_participant(117, NULL, NULL);
    dds_qos_t *qos = dds_create_qos();
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
    dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
    const dds_entity_t reader =
        dds_create_reader(participant, topic(participant, argv[1], "reply", &Cubit_Reply_desc), qos, NULL);
    const dds_entity_t writer =
        dds_create_writer(participant, topic(participant, argv[1], "request", &Cubit_Request_desc), qos, NULL);
    bool goes_on = false;
    for (int i = 0; i < (int)(seconds * 1000) && !goes_on; i++) {
        goes_on = is_answered(reader, writer);
        dds_sleepfor(DDS_MSECS(1));
    }
    puts(goes_on ? "found" : "nobody");
    Cubit_Request request = {.number = 0};
    while (goes_on && fgets(line, sizeof line, stdin) != NULL) {
        char *rest = NULL;
        request.number++;
        request.wants = (uint8_t)atoi(strtok_r(line, " \n", &rest));
        request.argument._d = (uint8_t)atoi(strtok_r(NULL, " \n", &rest));
        read_numbers(&request.argument, &rest);
        goes_on = dds_write(writer, &request) == 0;
        if (goes_on && request.wants != 1 && !print_answer(reader, seconds)) {
            puts("silent");
        }
    }
    dds_delete_qos(qos);
    dds_delete(participant);
    return 0;
}
