// An announce that comes with a worker's reply (phase 2 of the seed): in the extension's metadata, as a part, or as JSON in its prose.
import type { Message, Task } from '@a2a-js/sdk'
import { HeimdallError } from '../../errors.ts'
import { type Announce, parseAnnounce } from '../messages.ts'
import { dataOf, EXTENSION, textOf } from './extension.ts'
import { objectsIn } from './json-in-text.ts'

export function announceOf(task: Task): Announce | undefined {
  const own = task.metadata?.[EXTENSION] as { session_announce?: unknown } | undefined
  const message = task.status?.message
  return readable(own?.session_announce) ?? (message === undefined ? undefined : announceIn(message))
}

export function announceIn(message: Pick<Message, 'parts'>): Announce | undefined {
  return readable(dataOf(message.parts, ANNOUNCE)) ?? readable(inProse(textOf(message)))
}

const ANNOUNCE = 'SESSION_ANNOUNCE'

const inProse = (text: string): unknown => objectsIn(text).find(({ type }) => type === ANNOUNCE)

/** One that cannot be read is as good as none: the reply counts without it. */
function readable(raw: unknown): Announce | undefined {
  if (raw === undefined) return undefined
  try {
    return parseAnnounce(raw)
  } catch (error) {
    if (error instanceof HeimdallError && error.code === 'DISPATCH_INVALID') return undefined
    throw error
  }
}
