/* infermeter back-end ABI, version 1.
 *
 * A back end is a shared library `infermeter_backend_<name>.so` that exports the two symbols at the end of this file
 * and knows nothing else of infermeter. It is loaded only in worker processes, never in the driver.
 *
 * Rules
 *  - Every call that can fail returns an imb_status and, if it is not IMB_OK, writes one sentence into `message`.
 *  - Slots marked "optional" may be NULL: the host then does without.
 *  - A struct that grows is given with its size first; a reader uses only what both sides know.
 *  - Strings are UTF-8 and end with NUL. Pointers handed out stay valid as long as said at the place.
 *  - A session is used by one thread at a time, its requests likewise, unless `concurrent_requests` says otherwise.
 *  - Nothing may be written outside of the current folder (a private temporary one), nothing may be connected to but
 *    imb_load.server_addresses.
 */
#ifndef INFERMETER_BACKEND_H
#define INFERMETER_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMB_ABI_VERSION 1u

typedef enum imb_status {
  IMB_OK = 0,
  IMB_INVALID_ARGUMENT = 1, /* an option, a shape, an input that does not fit: the user can mend it */
  IMB_UNSUPPORTED = 2,      /* device, dtype or model kind that this runtime cannot do */
  IMB_LIBRARY_MISSING = 3,  /* the runtime's shared library was not found */
  IMB_LIBRARY_TOO_OLD = 4,  /* it was found, and lacks what we need */
  IMB_MODEL_ERROR = 5,      /* the model cannot be read or compiled */
  IMB_RUN_ERROR = 6,        /* an inference failed */
  IMB_OUT_OF_MEMORY = 7,
  /* An inference failed on a server: loads count these apart. */
  IMB_SERVER_REFUSED = 8,  /* no connection */
  IMB_SERVER_RESET = 9,    /* the connection ended before the answer did */
  IMB_SERVER_TIMEOUT = 10, /* no answer in time */
  IMB_SERVER_STATUS_4XX = 11,
  IMB_SERVER_STATUS_5XX = 12,
  IMB_BAD_ANSWER = 13 /* it cannot be used */
} imb_status;

/* The caller's buffer for one sentence; always left NUL-terminated, truncated if need be. */
typedef struct imb_message {
  char* text;
  size_t capacity;
} imb_message;

/* Element types: the numbers of ONNX's TensorProto.DataType. Types below 8 bits are packed, low nibble first. */
typedef enum imb_dtype {
  IMB_UNDEFINED = 0,
  IMB_FLOAT32 = 1,
  IMB_UINT8 = 2,
  IMB_INT8 = 3,
  IMB_UINT16 = 4,
  IMB_INT16 = 5,
  IMB_INT32 = 6,
  IMB_INT64 = 7,
  IMB_STRING = 8, /* data points to an array of `const char*`; see imb_value */
  IMB_BOOL = 9,
  IMB_FLOAT16 = 10,
  IMB_FLOAT64 = 11,
  IMB_UINT32 = 12,
  IMB_UINT64 = 13,
  IMB_COMPLEX64 = 14,
  IMB_COMPLEX128 = 15,
  IMB_BFLOAT16 = 16,
  IMB_FLOAT8E4M3FN = 17,
  IMB_FLOAT8E4M3FNUZ = 18,
  IMB_FLOAT8E5M2 = 19,
  IMB_FLOAT8E5M2FNUZ = 20,
  IMB_UINT4 = 21,
  IMB_INT4 = 22,
  IMB_FLOAT4E2M1 = 23
} imb_dtype;

typedef enum imb_kind { IMB_NONE = 0 /* an absent optional */, IMB_TENSOR = 1, IMB_SEQUENCE = 2 } imb_kind;

/* A tensor, or a sequence of values. `data` is row-major, little-endian, at least 64-byte aligned when the host gives
 * it. Strings: `data` is `const char* const*`, `string_sizes[i]` the bytes of each (they may hold NUL). */
typedef struct imb_value {
  imb_kind kind;
  imb_dtype dtype;
  size_t rank;
  const int64_t* shape;
  const void* data;
  size_t size_bytes;          /* of data; 0 for strings */
  const size_t* string_sizes; /* strings only */
  size_t element_count;       /* sequences only */
  const struct imb_value* elements;
} imb_value;

/* An input or output as the model declares it. A dynamic dimension is -1; dimension_names[i] its name, or "". */
typedef struct imb_port {
  const char* name;
  imb_kind kind;
  int is_optional;
  imb_dtype dtype;
  int rank_known;
  size_t rank;
  const int64_t* shape;
  const char* const* dimension_names;
} imb_port;

typedef struct imb_pair {
  const char* key;
  const char* value;
} imb_pair;

/* Receives name/value pairs or named numbers; the strings live only during the call. */
typedef void (*imb_pair_sink)(void* user, const char* name, const char* value);
typedef void (*imb_number_sink)(void* user, const char* name, const char* unit, double value);

/* Where to look for the runtime's shared library, in this order: `library` (a file; the only place if given), each of
 * `python_folders` (site-packages), the system's loader. */
typedef struct imb_environment {
  size_t struct_size;
  const char* library; /* or NULL */
  size_t python_folder_count;
  const char* const* python_folders;
  const char* folder; /* where the user is: MODULE:FACTORY is looked for there; or NULL */
} imb_environment;

typedef struct imb_option {
  const char* key;
  const char* values; /* "N", "true|false", "none|basic|extended|all" */
  const char* help;   /* one line */
} imb_option;

/* What this back end is and what the runtime found can do. Valid until close_runtime. */
typedef struct imb_runtime_info {
  size_t struct_size;
  const char* name;            /* "onnxruntime" */
  const char* runtime_name;    /* "ONNX Runtime" */
  const char* runtime_version; /* "1.31.1" */
  const char* library;         /* path of the shared library in use; "" if built in */
  const char* model_formats;   /* comma-separated endings, the preferred first: "onnx,ort"; "*": any name will do;
                                * "zoo": models of the zoo by their names; "python": MODULE:FACTORY; "workload:NAME": what
                                * is   measured is no model, and NAME stands where a model's name does; "server": the
                                * model is on a server, by this name there */
  size_t device_count;
  const char* const* devices; /* "cpu", "cuda" */
  size_t dtype_count;
  const char* const* dtypes; /* of "float32", "float16", "bfloat16": what can be executed on some device */
  size_t option_count;
  const imb_option* options;
  int concurrent_requests; /* how many may be in flight; 0: any number */
} imb_runtime_info;

/* What is to be loaded. `dtype` is the precision in which float32 parts of the model are to be executed; a back end
 * that cannot do it on this device refuses (IMB_UNSUPPORTED) and never replaces it. */
typedef struct imb_load {
  size_t struct_size;
  const char* model_path;
  const char* device; /* "cpu", "cuda": already resolved from auto by the host */
  const char* dtype;
  int threads;   /* intra-operator threads; 0: as many as the process may use */
  int64_t batch; /* size of the batch axis of every input that has one (see batch_axes); 0: leave it */
  size_t dimension_count;
  const imb_pair* dimensions; /* values for named dynamic dimensions: {"height", "512"} */
  size_t option_count;
  const imb_pair* options;       /* only keys that runtime_info lists; anything else was refused by the host */
  const char* model_base_folder; /* external data lies here; or NULL: the model's own folder */
  const char* zoo_name;       /* "resnet50" if the model is of the zoo, for who has a definition of his own; or NULL */
  const char* profile_folder; /* operators are to be profiled: an empty folder for the files that profile_end completes;
                               * or NULL: they are not, and nothing may slow the inference down */
  const char* cache_folder; /* of this back end alone, kept from process to process: what is costly to make and the same
                             * for all of them; or NULL */
  int preparing; /* not 0: nothing will be run. What later loads like this one would make is left in cache_folder; they
                  * only read it, and nothing may be written there but now */
  /* Which dimension of each input is the batch: the host decides it, for all back ends alike (docs/methodology.md).
   * Asked while loading, with all inputs as the model declares them, dynamic dimensions -1 and with their names; writes
   * a dimension per input, or -1: that input has none, and its dynamic dimensions are not given `batch`. A fixed
   * dimension may be named, too, and keeps its size. Of several calls the last one counts. NULL with hosts that know
   * nothing of it: the batch is the first dimension then, where that is dynamic. */
  imb_status (*batch_axes)(void* user, size_t input_count, const imb_port* const* inputs, int64_t* axes,
                           imb_message message);
  void* batch_axes_user;
  /* The shapes of the data that it will be run on, one item of each input, for models that declare no inputs:
   * "1x3x224x224", "1x128:int64", several with ';' between them. NULL: not known. */
  const char* data_shape;
  /* The model is a name on a server, which the option "url" says where to find (model format "server"). The host of the
   * URL as the launcher resolved it: "127.0.0.1:8000,[::1]:8000". A worker can connect to these addresses, without
   * waiting (EINPROGRESS), and to nothing else; it can resolve no name. NULL: there is no server. */
  const char* server_addresses;
  const char* server_token; /* a secret that goes with every request ("Authorization: Bearer …"), or NULL; never told */
} imb_load;

typedef struct imb_runtime imb_runtime;
typedef struct imb_session imb_session;
typedef struct imb_request imb_request;
typedef struct imb_queue imb_queue;

/* When the pieces of an answer came that is given piece by piece: a text, a token or several at a time. */
typedef struct imb_parts {
  size_t struct_size;        /* the host's */
  size_t part_count;         /* pieces with content; 0: it came in one */
  const int64_t* moments_ns; /* of each piece, ascending: CLOCK_MONOTONIC, taken when its bytes were there, before they
                              * were looked at */
  int64_t output_tokens, prompt_tokens; /* as whoever made the answer counts them; -1: it does not say */
} imb_parts;

/* A queue belongs to one thread at a time, which submits requests to it, takes those that have ended from it, and asks
 * `wait` for the status of each, which then returns at once. */
typedef struct imb_queue_slots {
  imb_status (*create)(imb_session* session, imb_queue** queue, imb_message message);
  void (*destroy)(imb_queue* queue); /* before its session, and when none of its requests is in flight */
  imb_status (*submit)(imb_queue* queue, imb_request* request, imb_message message);
  /* A request that has ended, as soon as there is one, and when it did, by CLOCK_MONOTONIC: what came is received and
   * stamped before anything is examined. NULL after `timeout_ns` without one. 0: does not wait. */
  imb_status (*next_ended)(imb_queue* queue, int64_t timeout_ns, imb_request** request, int64_t* ended_ns,
                           imb_message message);
} imb_queue_slots;

typedef struct imb_backend {
  uint32_t abi_version; /* IMB_ABI_VERSION it was built with */
  size_t struct_size;   /* sizeof(imb_backend) then */

  /* Opens the runtime's library. On failure *runtime is NULL. */
  imb_status (*open_runtime)(const imb_environment* environment, imb_runtime** runtime, imb_message message);
  const imb_runtime_info* (*runtime_info)(imb_runtime* runtime);
  void (*close_runtime)(imb_runtime* runtime);

  /* Reads the model. Where the runtime has no step of its own for compiling, this does both and `compile` is NULL. */
  imb_status (*load)(imb_runtime* runtime, const imb_load* load, imb_session** session, imb_message message);
  imb_status (*compile)(imb_session* session, imb_message message); /* optional */
  void (*close)(imb_session* session);

  /* Inputs and outputs, after `load` (and `compile`); valid until close. Dimensions fixed by imb_load are fixed here.
   */
  size_t (*input_count)(imb_session* session);
  size_t (*output_count)(imb_session* session);
  const imb_port* (*input)(imb_session* session, size_t index);
  const imb_port* (*output)(imb_session* session, size_t index);

  /* One inference in flight with its own buffers. */
  imb_status (*create_request)(imb_session* session, imb_request** request, imb_message message);
  void (*destroy_request)(imb_request* request);
  /* Outside of the timed loop. The bytes stay the caller's and stay where they are until the next bind or destroy. */
  imb_status (*bind_input)(imb_request* request, size_t index, const imb_value* value, imb_message message);
  /* One inference; returns when the outputs are there (or, on an asynchronous device, when `synchronize` returns). */
  imb_status (*run)(imb_request* request, imb_message message);
  /* The request's last output; the view is valid until the next run, bind or destroy of this request. */
  imb_status (*output_value)(imb_request* request, size_t index, imb_value* value, imb_message message);

  /* optional: several in flight. `wait` returns the status of the inference that `submit` began. */
  imb_status (*submit)(imb_request* request, imb_message message);
  imb_status (*wait)(imb_request* request, imb_message message);
  /* optional: returns when the device has finished everything of this session; called inside the timed region. */
  imb_status (*synchronize)(imb_session* session, imb_message message);

  /* What is really executed, after the first inference: "dtype", "threads", "device", "provider", and whatever else
   * explains a difference between two subjects ("graph_optimization": "all"). "concurrent_inferences": how many the
   * model is loaded for at a time, where that is more than one. */
  imb_status (*executed)(imb_session* session, imb_pair_sink sink, void* user, imb_message message);
  /* optional: bytes of device memory held by this process, now and at its peak since load. */
  imb_status (*device_memory)(imb_session* session, uint64_t* now, uint64_t* peak, imb_message message);
  /* optional: counters of the workload's own ("hit_rate", "1", 0.83), read after the timed loop. */
  imb_status (*counters)(imb_session* session, imb_number_sink sink, void* user, imb_message message);
  /* Operator profile, of a session that was loaded with a profile_folder: `begin` (optional) is called before the
   * iterations that are to be recorded, `end` (optional: without it there is no profile) after them and completes the
   * files in that folder. docs/abi.md says which the host can read. */
  imb_status (*profile_begin)(imb_session* session, imb_message message);
  imb_status (*profile_end)(imb_session* session, imb_message message);
  /* optional, and absent from tables that end before it: called after a run and before the next, outside of the timed
   * region. Says whether what the run left may stand: IMB_RUN_ERROR where an output changed its shape or type. */
  imb_status (*between)(imb_request* request, imb_message message);
  /* optional, and absent from tables that end before it: of the last run, which succeeded. Called after it and before
   * `between`, outside of the timed region. What it points to is valid until the next call with this request. */
  imb_status (*parts)(imb_request* request, imb_parts* parts, imb_message message);
  /* optional, and absent from tables that end before it: the next run of this request asks a prompt of so many tokens
   * for an answer of so many, as recorded arrivals of language models say; 0 of either is taken for 1. Called before
   * each such run, outside of the timed region. IMB_UNSUPPORTED: it has prompts of its own. */
  imb_status (*lengths)(imb_request* request, int64_t prompt_tokens, int64_t output_tokens, imb_message message);
  /* optional, and absent from tables that end before it: many requests in flight without a thread for each. */
  const imb_queue_slots* queues;
} imb_backend;

/* The two exported symbols. The host refuses another version with a sentence. */
typedef uint32_t (*imb_abi_version_fn)(void);
typedef const imb_backend* (*imb_backend_fn)(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
uint32_t
infermeter_backend_abi_version(void);
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const imb_backend*
infermeter_backend(void);

#ifdef __cplusplus
}
#endif

#endif /* INFERMETER_BACKEND_H */
