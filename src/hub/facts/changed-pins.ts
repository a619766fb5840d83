// Tools that are not what a person knows, with what differs: of each server the first that waits to be approved.
import { pendingOf } from '../../pins/approve.ts'
import { difference } from '../../pins/difference.ts'
import { pinsPlace, readPins } from '../../pins/pins-file.ts'
import type { Env } from '../../paths.ts'
import type { WaitCard } from '../contract.ts'

export type PinShown = NonNullable<WaitCard['pin']>

export function changedPin(env: Env, root: string, server: string): PinShown | undefined {
  const pins = readPins(pinsPlace(env, root, server))
  for (const tool of pins?.tools.values() ?? []) {
    const pending = pendingOf(tool)
    if (pending === undefined) continue
    const { fields, lines } = difference(tool.pinned.at(-1)?.text ?? null, pending.text)
    return { server, tool: tool.name, hash: pending.hash, fields: [...fields], diff: [...lines] }
  }
  return undefined
}
