// After each test file: collects what the file has left in a worker that has become large. A start of a program copies the page tables of the worker.
import { afterAll } from 'vitest'

// For the worker's own malloc, which has read it: programs under test have the memory that they have at a user's.
delete process.env['GLIBC_TUNABLES']

const LARGE_BYTES = 200 << 20

afterAll(() => {
  if (process.memoryUsage.rss() > LARGE_BYTES) globalThis.gc?.()
})
