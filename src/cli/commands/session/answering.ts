// What a session waits for is a person's to answer: an agent may direct another, and not say yes in its user's place.
import type { SessionConnection } from '../../../client/connection.ts'
import { HeimdallError } from '../../../errors.ts'
import { agentAbove } from '../../../person.ts'
import { infoIfKnown } from './versions.ts'

/** Refuses an agent, by processes, while the session waits; closes the connection then. */
export async function refuseToAnswer(connection: SessionConnection, id: string): Promise<void> {
  const agent = agentAbove()
  if (agent === undefined) return
  // One of an earlier version that does not say whether it waits is typed into as before.
  if ((await infoIfKnown(connection))?.needs_input.value !== true) return
  connection.close()
  throw new HeimdallError('PERSON_REQUIRED', `session ${id} waits for a person, and ${agent.reason}`, {
    hint: 'a person answers it, in a terminal of their own; hm wait tells when it works again',
  })
}
