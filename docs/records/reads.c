// Nanoseconds for an independent read of 4 bytes at random from an array, by the size of the array, on one
// thread and on two together. Huge pages: GLIBC_TUNABLES=glibc.malloc.hugetlb=1.
//
//     gcc -O2 -pthread reads.c -o reads && ./reads
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static unsigned *a;
static unsigned long n;
static void *work(void *seed) {
  unsigned long x = (unsigned long)seed * 0x9e3779b97f4a7c15 | 1, sum = 0;
  for (long i = 0; i < 1 << 26; i++) { x = x * 6364136223846793005 + 1442695040888963407; sum += a[(x >> 20) & (n - 1)]; }
  return (void *)sum;
}
int main(void) {
  for (unsigned long mib = 1; mib <= 1024; mib *= 4) {
    a = malloc((n = mib << 18) * 4);
    for (unsigned long i = 0; i < n; i++) a[i] = i;
    for (long threads = 1; threads <= 2; threads++) {
      pthread_t t[2]; struct timespec from, to; void *sum;
      clock_gettime(CLOCK_MONOTONIC, &from);
      for (long i = 0; i < threads; i++) pthread_create(&t[i], 0, work, (void *)(i + 1));
      for (long i = 0; i < threads; i++) pthread_join(t[i], &sum);
      clock_gettime(CLOCK_MONOTONIC, &to);
      printf("%lu MiB, %ld: %.2f ns\n", mib, threads, ((to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec) / (1 << 26) / threads);
    }
    free(a);
  }
}
