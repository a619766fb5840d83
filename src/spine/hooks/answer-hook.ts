// From what a host handed to its hook to what it is answered. A hook that fails lets the host go on and says so loudly, unless it was told to be strict.
import { HeimdallError } from '../../errors.ts'
import { blindOutput, type HookOutput, hookOutput, type HookVerdict } from '../../hosts/hooks/hook-answer.ts'
import { type HookCall, readHook } from '../../hosts/hooks/hook-call.ts'
import type { HookHost } from '../../hosts/hooks/hook-table.ts'
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

async function decided(call: HookCall, request: HookRequest, note: (line: string) => void): Promise<HookVerdict> {
  try {
    const { onEvent } = await import('./on-event.ts')
    const verdict = await onEvent(call, request, note)
    return isUnchecked(call, request) && verdict.kind === 'pass' ? unchecked(call) : verdict
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    const never = (await import('./without-store.ts')).refusedWithoutStore(call, request)
    if (never !== undefined) return never
    const known = AWAY.has(error.code) ? (await import('./from-copy.ts')).judgeFromCopy(call, request) : undefined
    // A strict hook is not content with a copy that may be old.
    if (known !== undefined && (known.kind === 'deny' || !request.isStrict)) return known
    return outage(call, error, request.isStrict)
  }
}

const isUnchecked = ({ event, tool }: HookCall, { isStrict }: HookRequest): boolean =>
  isStrict && event === 'before-tool' && tool?.isUnread === true

const unchecked = ({ host, tool }: HookCall): HookVerdict => ({
  kind: 'deny',
  reason: `${host} did not say where ${tool?.name ?? 'it'} writes in a way that is known here, so no claim could be checked. This hook is strict, so nothing is written.`,
})

/** A fleet's engine is away: what others hold is known all the same. */
const AWAY: ReadonlySet<string> = new Set(['ENGINE_UNREACHABLE', 'OUTCOME_UNKNOWN'])

/** The documented fail mode: open, with words for the person; closed with `--strict`, and only where something was to be written. */
function outage({ event, tool }: HookCall, error: HeimdallError, isStrict: boolean): HookVerdict {
  const why = `claims could not be checked: ${error.message}`
  const writes = tool !== undefined && (tool.targets.length > 0 || tool.isShell || tool.isUnread)
  if (isStrict && event === 'before-tool' && writes)
    return { kind: 'deny', reason: `${why}. This hook is strict, so nothing is written until they can.` }
  return { kind: 'pass', warning: `heimdall: ${why}; this call was let through` }
}
