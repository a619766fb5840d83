// From what a host handed to its hook to what it is answered. A hook that fails lets the host go on and says so loudly, unless it was told to be strict.
import { HeimdallError } from '../../errors.ts'
import { blindOutput, type HookOutput, hookOutput, type HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import { type HookCall, readHook } from '../../hosts/hooks/hook-call.ts'
import type { HookHost } from '../../hosts/hooks/hook-table.ts'
import { HOOK_BUSY_MS, HOOK_RECORD_MS } from '../../limits.ts'
import { isWriting } from './hook-place.ts'
import { type HookSurroundings, passesBySlip } from './pass-slip.ts'

const SILENT: HookOutput = { stdout: '', stderr: '', exit: 0 }

export interface HookRequest extends HookSurroundings {
  readonly host: HookHost
  /** What the host handed over. */
  readonly text: string
  /** A hook that cannot tell refuses, where the host lets it. */
  readonly isStrict: boolean
}

export async function answerHook(request: HookRequest): Promise<HookOutput> {
  const { host, isStrict } = request
  const read = readHook(host, request.text)
  if ('unknown' in read) return SILENT
  if ('problem' in read) return blindOutput(host, read.problem, isStrict)
  const { call } = read
  if (passesBySlip(call, request) || (await passesByStore(call, request))) return hookOutput(call, { kind: 'pass' })
  const notes: string[] = []
  const verdict = await decided(call, request, (line) => void notes.push(line))
  const output = hookOutput(call, verdict)
  const stderr = [...notes.map((line) => `heimdall: ${line}`), output.stderr].filter((line) => line !== '').join('\n')
  return { ...output, stderr }
}

/** Loaded when the slip does not say it: the store's driver takes longer than all that is done here. */
async function passesByStore(call: HookCall, request: HookRequest): Promise<boolean> {
  if (call.tool === undefined) return false
  const { mayPass } = await import('./quick-write.ts')
  return mayPass(call, request)
}

/** What is known by reading is the answer; the store may refuse to record it. */
async function decided(call: HookCall, request: HookRequest, note: (line: string) => void): Promise<HookVerdict> {
  const { knownVerdict, plannedWrite } = await import('./known-verdict.ts')
  const planned = plannedWrite(call, request)
  const known = planned === undefined ? undefined : await knownVerdict(call, request, planned, note)
  const busyMs = known?.kind === 'deny' ? HOOK_RECORD_MS : HOOK_BUSY_MS
  try {
    const { onEvent } = await import('./on-event.ts')
    const verdict = await onEvent(call, request, { planned, busyMs, note })
    return isUnchecked(call, request) && verdict.kind === 'pass' ? unchecked(call) : verdict
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    if (known?.kind === 'deny') {
      note(`this refusal is not recorded: ${error.message}`)
      return known
    }
    const { isUnwritable } = await import('../../coordination/coordination.ts')
    // A strict hook lets nothing pass that could not be claimed.
    if (known === undefined || request.isStrict || !isUnwritable(error)) return outage(call, error, request.isStrict)
    return {
      kind: 'pass',
      warning: `heimdall: no other agent is known to hold this, and nothing was claimed: ${error.message}`,
    }
  }
}

const isUnchecked = ({ event, tool }: HookCall, { isStrict }: HookRequest): boolean =>
  isStrict && event === 'before-tool' && tool?.isUnread === true

const unchecked = ({ host, tool }: HookCall): HookVerdict => ({
  kind: 'deny',
  reason: `${host} did not say where ${tool?.name ?? 'it'} writes in a way that is known here, so no claim could be checked. This hook is strict, so nothing is written.`,
})

/** The documented fail mode: open, with words for the person; closed with `--strict`, and only where something was to be written. */
function outage({ event, tool }: HookCall, error: HeimdallError, isStrict: boolean): HookVerdict {
  const why = `claims could not be checked: ${error.message}`
  if (error.code === 'AGENT_REVOKED') return { kind: 'pass', warning: `heimdall: ${error.message}` }
  if (isStrict && event === 'before-tool' && tool !== undefined && isWriting(tool))
    return { kind: 'deny', reason: `${why}. This hook is strict, so nothing is written until they can.` }
  return { kind: 'pass', warning: `heimdall: ${why}; this call was let through` }
}
