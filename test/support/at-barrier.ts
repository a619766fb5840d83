// The fixture's side of the barrier: say `ready`, and go on with the line that releases everybody.
import { createInterface } from 'node:readline'

let incoming: AsyncIterator<string> | undefined

/** Resolves with the releasing line, or nothing when the test has closed our stdin. */
export async function arrive(): Promise<string | undefined> {
  incoming ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  process.stdin.ref()
  process.stdout.write('ready\n')
  const { value, done } = await incoming.next()
  // Past the barrier the open pipe must not keep the program from ending.
  process.stdin.unref()
  return done === true ? undefined : value
}
