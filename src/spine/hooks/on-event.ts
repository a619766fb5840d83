// Which event of a host does what; loaded only when there is more to do than to let it pass.
import type { HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import type { HookCall } from '../../hosts/hooks/hook-call.ts'
import type { HookEvent } from '../../hosts/hooks/hook-table.ts'
import { type HookOptions, type HookRoom, inRoom } from './hook-room.ts'
import { beginWait, endWait } from './person-waits.ts'
import type { HookSurroundings } from './pass-slip.ts'
import { beforeCompact, prompt, sessionEnd, sessionStart, subagentEnd, turnEnd } from './session-hooks.ts'
import { afterTool, beforeTool } from './tool-hooks.ts'

const ACTS: Readonly<Record<HookEvent, (hook: HookRoom) => Promise<HookVerdict>>> = {
  'session-start': sessionStart,
  prompt,
  'before-tool': beforeTool,
  'after-tool': afterTool,
  'asks-person': async (hook) => {
    await beginWait(hook, hook.call.question ?? `${hook.call.host} asks`)
    return { kind: 'pass' }
  },
  'turn-end': turnEnd,
  'subagent-end': subagentEnd,
  'session-end': sessionEnd,
  'before-compact': beforeCompact,
}

/** How a wait ended, by the first event after it. */
const ANSWERS: Readonly<Partial<Record<HookEvent, string>>> = {
  'after-tool': 'allowed',
  'before-tool': 'answered',
  prompt: 'prompt',
  'turn-end': 'denied',
  'session-end': 'session ended',
}

export function onEvent(call: HookCall, around: HookSurroundings, options: HookOptions): Promise<HookVerdict> {
  return inRoom(
    call,
    around,
    options,
    async (hook): Promise<HookVerdict> => {
      const answer = ANSWERS[call.event]
      if (answer !== undefined) await endWait(hook, answer)
      return await ACTS[call.event](hook)
    },
    { kind: 'pass' },
  )
}
