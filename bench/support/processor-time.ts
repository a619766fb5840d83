// How long the processors worked for a process, in nanoseconds, by the kernel's own book: ticks of 10 ms are too coarse for one that is idle.
import { readdirSync, readFileSync } from 'node:fs'

/** Of all its threads. */
export async function processorNsWithin(pid: number, ms: number): Promise<number> {
  const before = threadsOf(pid)
  await new Promise((resolve) => setTimeout(resolve, ms))
  let sum = 0
  for (const [thread, ns] of threadsOf(pid)) sum += ns - (before.get(thread) ?? 0)
  return sum
}

function threadsOf(pid: number): Map<string, number> {
  const tasks = `/proc/${pid}/task`
  return new Map(
    readdirSync(tasks).map((thread) => [
      thread,
      Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0]),
    ]),
  )
}
