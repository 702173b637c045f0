// Counts calls of malloc, calloc, realloc and posix_memalign by who makes them. Preloaded into a program by
// Benchmarks/allocations; at the end writes one JSON object to the file named by PABAL_ALLOCATIONS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { PROGRAM, NGHTTP2, OPENSSL, LIBUV, OTHER, OWNERS };
static const char *const names[OWNERS] = {"program", "nghttp2", "openssl", "libuv", "other"};
static atomic_ulong counts[OWNERS];

struct range { size_t start, end; int owner; };
static struct range ranges[256];
static atomic_int rangeCount;

static int note(struct dl_phdr_info *info, size_t size, void *data) {
  const char *name = info->dlpi_name;
  int owner = OTHER;
  if (name[0] == 0) owner = PROGRAM;
  else if (strstr(name, "libnghttp2")) owner = NGHTTP2;
  else if (strstr(name, "libssl") || strstr(name, "libcrypto")) owner = OPENSSL;
  else if (strstr(name, "libuv")) owner = LIBUV;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    int place = atomic_load(&rangeCount);
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || place >= 256) continue;
    ranges[place].start = info->dlpi_addr + header->p_vaddr;
    ranges[place].end = ranges[place].start + header->p_memsz;
    ranges[place].owner = owner;
    atomic_store(&rangeCount, place + 1);
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) { dl_iterate_phdr(note, NULL); }

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("PABAL_ALLOCATIONS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  for (int i = 0; i < OWNERS; i++)
    fprintf(file, "%s\"%s\":%lu", i ? "," : "{", names[i], atomic_load(&counts[i]));
  fprintf(file, "}\n");
  fclose(file);
}

static void count(void *caller) {
  size_t place = (size_t)caller;
  int found = atomic_load(&rangeCount);
  for (int i = 0; i < found; i++)
    if (place >= ranges[i].start && place < ranges[i].end) {
      atomic_fetch_add(&counts[ranges[i].owner], 1);
      return;
    }
  atomic_fetch_add(&counts[OTHER], 1);
}

void *malloc(size_t size) {
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(old, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}
