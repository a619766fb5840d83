// A gate's report.json as a gate_report message. The only file that knows the report contract, and it knows three fields of it.
import { isoSeconds } from '../clock.ts'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { isObject } from '../plain-object.ts'
import { readReferenced } from './invariants.ts'
import type { Message } from './messages.ts'
import { findReference, type Planning, type Reference } from './planning.ts'
import { judge } from './verdict.ts'

export interface GateRequest {
  /** Absolute, or relative to the project. */
  readonly report: string
  readonly from: string
  readonly msgId: string
  readonly wave?: string | undefined
}

export function gateMessage(planning: Planning, request: GateRequest): Message {
  const { path, ref } = findReport(planning, request.report)
  const { gate_id, status, wave } = readReport(path, ref)
  if (typeof gate_id !== 'string' || gate_id === '') throw invalid(`${ref} has no gate_id`)
  if (status !== 'pass' && status !== 'fail')
    throw invalid(
      `${ref} has ${typeof status === 'string' ? `the status ${printable(status)}` : 'no status'}, allowed are pass and fail`,
    )
  const shownWave = request.wave ?? (typeof wave === 'string' || typeof wave === 'number' ? String(wave) : undefined)
  const message = accept({
    type: 'gate_report',
    from: request.from,
    msg_id: request.msgId,
    ts: isoSeconds(planning.clock.wallMs()),
    gate_id,
    status,
    report_ref: ref,
    ...(shownWave === undefined ? {} : { wave: shownWave }),
  })
  planning.log('gate', 'to-message', `${gate_id}/${status} ref=${ref}`)
  return message
}

/** What we send is checked by the schema that the receiver checks it with. */
export function accept(value: unknown): Message {
  const verdict = judge(value)
  if (verdict.valid) return verdict.message
  throw new HeimdallError('MESSAGE_INVALID', verdict.errors.join('; '))
}

function findReport(planning: Planning, path: string): Reference {
  let found: Reference | undefined
  try {
    found = findReference(planning, path)
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'PATH_OUTSIDE_ROOT') throw error
    throw new HeimdallError('REPORT_INVALID', `report ${printable(path)} is outside the project`, {
      hint: 'a message refers to a report by its path in the project; copy the report there',
    })
  }
  if (found === undefined) throw invalid(`no report at ${printable(path)}`)
  return found
}

function readReport(path: string, ref: string): Readonly<Record<string, unknown>> {
  let report: unknown
  try {
    report = JSON.parse(readReferenced(path))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalid(`${ref} is not JSON: ${error.message}`)
  }
  if (!isObject(report)) throw invalid(`${ref} is not a JSON object`)
  return report
}

function invalid(message: string): HeimdallError {
  return new HeimdallError('REPORT_INVALID', message, { hint: 'let the gate write its report again' })
}
