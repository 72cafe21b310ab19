/* A workload of one's own as a plug-in: sorting, with a counter of comparisons. It knows one header and nothing else of
 * infermeter. Copy it, put your own work into `sort`, and name your own options, inputs, outputs and counters.
 * Reads bottom-up: the table of slots is at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infermeter_backend.h"

enum { DEFAULT_COUNT = 4096, LARGEST_COUNT = 1 << 24 };

typedef enum { INSERTION, MERGE, HEAP } algorithm;
static const char* const algorithm_names[] = {"insertion", "merge", "heap"};

struct imb_runtime {
  imb_runtime_info info;
};

struct imb_session {
  algorithm algorithm;
  int64_t count;
  int64_t shape[1];
  imb_port input, output;
  uint64_t comparisons; /* of the last run: what a counter shows must not depend on how often was run */
};

struct imb_request {
  imb_session* session;
  const int32_t* values; /* the host's bytes; they stay where they are */
  int32_t *sorted, *scratch;
  int has_run;
};

static imb_status refuse(imb_message message, imb_status status, const char* sentence) {
  if (message.text != NULL && message.capacity > 0) snprintf(message.text, message.capacity, "%s", sentence);
  return status;
}

static imb_status done(imb_message message) { return refuse(message, IMB_OK, ""); }

/* --- the work ------------------------------------------------------------------------------------------------------
 */

static int is_less(imb_session* session, int32_t a, int32_t b) {
  ++session->comparisons;
  return a < b;
}

static void insertion_sort(imb_session* session, int32_t* values, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    const int32_t value = values[i];
    int64_t at = i;
    for (; at > 0 && is_less(session, value, values[at - 1]); --at) values[at] = values[at - 1];
    values[at] = value;
  }
}

static void merge_sort(imb_session* session, int32_t* values, int32_t* scratch, int64_t count) {
  if (count < 2) return;
  const int64_t half = count / 2;
  merge_sort(session, values, scratch, half);
  merge_sort(session, values + half, scratch, count - half);
  memcpy(scratch, values, (size_t)half * sizeof *values);
  int64_t left = 0, right = half, to = 0;
  while (left < half && right < count) {
    values[to++] = is_less(session, values[right], scratch[left]) ? values[right++] : scratch[left++];
  }
  while (left < half) values[to++] = scratch[left++];
}

static void sink(imb_session* session, int32_t* values, int64_t root, int64_t count) {
  for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && is_less(session, values[child], values[child + 1])) ++child;
    if (!is_less(session, values[root], values[child])) return;
    const int32_t swapped = values[root];
    values[root] = values[child];
    values[child] = swapped;
    root = child;
  }
}

static void heap_sort(imb_session* session, int32_t* values, int64_t count) {
  for (int64_t root = count / 2 - 1; root >= 0; --root) sink(session, values, root, count);
  for (int64_t end = count - 1; end > 0; --end) {
    const int32_t largest = values[0];
    values[0] = values[end];
    values[end] = largest;
    sink(session, values, 0, end);
  }
}

/* --- runtime: what it is, and its options --------------------------------------------------------------------------
 */

static const imb_option options[] = {
    {"algorithm", "insertion|merge|heap", "how it is sorted; default: merge"},
    {"count", "N", "values to sort; default: 4096"},
};
static const char* const devices[] = {"cpu"};
static const char* const dtypes[] = {"float32"};

static imb_status open_runtime(const imb_environment* environment, imb_runtime** runtime, imb_message message) {
  (void)environment;
  *runtime = calloc(1, sizeof **runtime);
  if (*runtime == NULL) return refuse(message, IMB_OUT_OF_MEMORY, "no memory for the runtime");
  (*runtime)->info = (imb_runtime_info){.struct_size = sizeof(imb_runtime_info),
                                        .name = "sorting",
                                        .runtime_name = "sorting (example)",
                                        .runtime_version = "1",
                                        .library = "",
                                        .model_formats = "workload:sorting",
                                        .device_count = 1,
                                        .devices = devices,
                                        .dtype_count = 1,
                                        .dtypes = dtypes,
                                        .option_count = sizeof options / sizeof *options,
                                        .options = options,
                                        .concurrent_requests = 1};
  return done(message);
}

static const imb_runtime_info* runtime_info(imb_runtime* runtime) { return &runtime->info; }
static void close_runtime(imb_runtime* runtime) { free(runtime); }

/* --- session: one workload with its settings ------------------------------------------------------------------------
 */

/* What is not understood is refused, with the values that would be. */
static imb_status read_option(imb_session* session, const imb_pair* option, imb_message message) {
  if (strcmp(option->key, "algorithm") == 0) {
    for (int i = 0; i < (int)(sizeof algorithm_names / sizeof *algorithm_names); ++i) {
      if (strcmp(option->value, algorithm_names[i]) != 0) continue;
      session->algorithm = (algorithm)i;
      return IMB_OK;
    }
    return refuse(message, IMB_INVALID_ARGUMENT, "option algorithm needs insertion, merge or heap");
  }
  if (strcmp(option->key, "count") == 0) {
    char* end = NULL;
    session->count = strtoll(option->value, &end, 10);
    if (*option->value != '\0' && *end == '\0' && session->count >= 1 && session->count <= LARGEST_COUNT) return IMB_OK;
    return refuse(message, IMB_INVALID_ARGUMENT, "option count needs a whole number from 1 to 16777216");
  }
  return refuse(message, IMB_INVALID_ARGUMENT, "sorting has no such option; it has algorithm and count");
}

static imb_status load(imb_runtime* runtime, const imb_load* wanted, imb_session** session, imb_message message) {
  (void)runtime;
  *session = NULL;
  if (strcmp(wanted->device, "cpu") != 0 || strcmp(wanted->dtype, "float32") != 0) {
    return refuse(message, IMB_UNSUPPORTED, "sorting runs on device cpu with dtype float32, and on nothing else");
  }
  imb_session* made = calloc(1, sizeof *made);
  if (made == NULL) return refuse(message, IMB_OUT_OF_MEMORY, "no memory for the session");
  made->algorithm = MERGE;
  made->count = DEFAULT_COUNT;
  for (size_t i = 0; i < wanted->option_count; ++i) {
    const imb_status status = read_option(made, &wanted->options[i], message);
    if (status == IMB_OK) continue;
    free(made);
    return status;
  }
  static const char* const names[] = {""};
  made->shape[0] = made->count;
  made->input = (imb_port){.name = "values",
                           .kind = IMB_TENSOR,
                           .dtype = IMB_INT32,
                           .rank_known = 1,
                           .rank = 1,
                           .shape = made->shape,
                           .dimension_names = names};
  made->output = made->input;
  made->output.name = "sorted";
  *session = made;
  return done(message);
}

static void close_session(imb_session* session) { free(session); }

static size_t port_count(imb_session* session) { return (void)session, 1; }
static const imb_port* input(imb_session* session, size_t index) { return index == 0 ? &session->input : NULL; }
static const imb_port* output(imb_session* session, size_t index) { return index == 0 ? &session->output : NULL; }

/* --- request: one piece of work in flight ----------------------------------------------------------------------------
 */

static void destroy_request(imb_request* request) {
  if (request == NULL) return;
  free(request->sorted);
  free(request->scratch);
  free(request);
}

/* Memory is taken here, so that the timed run takes none. */
static imb_status create_request(imb_session* session, imb_request** request, imb_message message) {
  const size_t bytes = (size_t)session->count * sizeof(int32_t);
  imb_request* made = calloc(1, sizeof *made);
  *request = NULL;
  if (made != NULL) {
    made->session = session;
    made->sorted = malloc(bytes);
    made->scratch = malloc(bytes);
  }
  if (made == NULL || made->sorted == NULL || made->scratch == NULL) {
    destroy_request(made);
    return refuse(message, IMB_OUT_OF_MEMORY, "no memory for the values");
  }
  memset(made->sorted, 0, bytes);
  memset(made->scratch, 0, bytes);
  *request = made;
  return done(message);
}

static imb_status bind_input(imb_request* request, size_t index, const imb_value* value, imb_message message) {
  if (index != 0) return refuse(message, IMB_INVALID_ARGUMENT, "sorting has one input: values");
  if (value->kind != IMB_TENSOR || value->dtype != IMB_INT32 || value->rank != 1 ||
      value->shape[0] != request->session->count) {
    return refuse(message, IMB_INVALID_ARGUMENT, "input values needs int32, as many as the option count says");
  }
  request->values = value->data;
  return done(message);
}

/* The only call that is timed. A copy comes first: every run must find the same work. */
static imb_status run(imb_request* request, imb_message message) {
  imb_session* session = request->session;
  if (request->values == NULL) return refuse(message, IMB_INVALID_ARGUMENT, "input 'values' is not bound");
  session->comparisons = 0;
  memcpy(request->sorted, request->values, (size_t)session->count * sizeof(int32_t));
  switch (session->algorithm) {
    case INSERTION: insertion_sort(session, request->sorted, session->count); break;
    case MERGE: merge_sort(session, request->sorted, request->scratch, session->count); break;
    case HEAP: heap_sort(session, request->sorted, session->count); break;
  }
  request->has_run = 1;
  return done(message);
}

static imb_status output_value(imb_request* request, size_t index, imb_value* value, imb_message message) {
  if (index != 0) return refuse(message, IMB_INVALID_ARGUMENT, "sorting has one output: sorted");
  if (!request->has_run) return refuse(message, IMB_INVALID_ARGUMENT, "there is no output before the first run");
  *value = (imb_value){.kind = IMB_TENSOR,
                       .dtype = IMB_INT32,
                       .rank = 1,
                       .shape = request->session->shape,
                       .data = request->sorted,
                       .size_bytes = (size_t)request->session->count * sizeof(int32_t)};
  return done(message);
}

/* --- facts
 * ------------------------------------------------------------------------------------------------------------ */

static imb_status executed(imb_session* session, imb_pair_sink sink_pair, void* user, imb_message message) {
  sink_pair(user, "device", "cpu");
  sink_pair(user, "dtype", "float32");
  sink_pair(user, "threads", "1");
  sink_pair(user, "provider", "sorting");
  sink_pair(user, "algorithm", algorithm_names[session->algorithm]);
  return done(message);
}

/* Name, unit ("1": a bare number), value; read once, after the timed loop. */
static imb_status counters(imb_session* session, imb_number_sink sink_number, void* user, imb_message message) {
  sink_number(user, "comparisons", "1", (double)session->comparisons);
  return done(message);
}

/* --- the two symbols, and the table. Slots that are left out are NULL: the host does without.
 * -------------------------- */

static const imb_backend backend = {.abi_version = IMB_ABI_VERSION,
                                    .struct_size = sizeof(imb_backend),
                                    .open_runtime = open_runtime,
                                    .runtime_info = runtime_info,
                                    .close_runtime = close_runtime,
                                    .load = load,
                                    .close = close_session,
                                    .input_count = port_count,
                                    .output_count = port_count,
                                    .input = input,
                                    .output = output,
                                    .create_request = create_request,
                                    .destroy_request = destroy_request,
                                    .bind_input = bind_input,
                                    .run = run,
                                    .output_value = output_value,
                                    .executed = executed,
                                    .counters = counters};

uint32_t infermeter_backend_abi_version(void) { return IMB_ABI_VERSION; }
const imb_backend* infermeter_backend(void) { return &backend; }
