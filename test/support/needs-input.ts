// Who waits for a person, as a client of a session hears it.
import { type NeedsInput, parseState } from '../../src/wire/payloads.ts'
import type { Client } from '../supervisor/support/session.ts'

/** Each change of the answer, in order. */
export function answers(client: Client): NeedsInput[] {
  const all = client.frames.filter(({ name }) => name === 'state').map(({ payload }) => parseState(payload).needs_input)
  return all.filter((one, i) => JSON.stringify(one) !== JSON.stringify(all[i - 1]))
}
