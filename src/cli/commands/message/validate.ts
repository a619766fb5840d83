// heimdall message validate: one message, a message and its retry, or a stream of them, against the schema.
import type { Planning } from '../../../briefing/planning.ts'
import { judgeText, type MessageVerdict, verdictLine } from '../../../briefing/verdict.ts'
import { MESSAGE_BYTES_MAX } from '../../../limits.ts'
import type { Answer, Context, Run } from '../../command.ts'
import { readAll, readLines } from '../../stdin.ts'
import { print } from '../../stdout.ts'
import type { messageValidate } from '../../table/briefing.ts'
import { logCost, planningOf } from '../../planning-of.ts'

export const run: Run<typeof messageValidate> = async (context, { flags }) => {
  const planning = planningOf(context)
  const check = async (bytes: Buffer): Promise<MessageVerdict> => {
    const verdict = judgeText(bytes)
    if (!verdict.valid) {
      planning.log('validate', 'reject', JSON.stringify(verdict.errors))
      return verdict
    }
    const { type, msg_id } = verdict.message
    planning.log('validate', 'accept', msg_id)
    await logCost(context, planning, { role: flags.role, kind: type, msgId: msg_id }, bytes.toString('utf8').trim())
    return verdict
  }
  if (flags.stream === true) return await validateStream(context, check)
  if (flags['on-receipt'] === true) return await validateOnReceipt(context, planning, check)
  const verdict = await check(await readAll(context.stdin, MESSAGE_BYTES_MAX))
  const { valid, errors } = verdict
  return { data: { valid, errors }, seedJson: { valid, errors }, text: verdictLine(verdict), exit: valid ? 0 : 1 }
}

type Check = (bytes: Buffer) => Promise<MessageVerdict>

const isBlank = (line: Buffer): boolean => line.byteLength <= MESSAGE_BYTES_MAX && line.toString('utf8').trim() === ''

/** One verdict line per message, as they come; 1 when any of them was refused. */
async function validateStream(context: Context, check: Check): Promise<Answer> {
  let refused = 0
  for await (const line of readLines(context.stdin, MESSAGE_BYTES_MAX)) {
    if (isBlank(line)) continue
    const verdict = await check(line)
    if (!verdict.valid) refused += 1
    await print(context.stdout, verdictLine(verdict))
  }
  return { data: { refused }, text: '', streamed: true, exit: refused === 0 ? 0 : 1 }
}

/** Seed 000: a malformed message gets one retry, the next line; a second failure is escalated. */
async function validateOnReceipt(context: Context, planning: Planning, check: Check): Promise<Answer> {
  let attempts = 0
  let errors: readonly string[] = []
  for await (const line of readLines(context.stdin, MESSAGE_BYTES_MAX)) {
    if (isBlank(line)) continue
    attempts += 1
    const verdict = await check(line)
    if (verdict.valid) {
      if (attempts > 1) planning.log('validate', 'accept-retry', `attempt=${attempts}`)
      const text = attempts === 1 ? 'ACCEPTED' : `ACCEPTED on retry (attempt ${attempts})`
      return { data: { accepted: true, attempts, errors }, text }
    }
    errors = verdict.errors
    context.note(`INVALID (attempt ${attempts}): ${JSON.stringify(errors)}`)
    if (attempts === 2) break
    context.note('waiting for one retry: the next line')
  }
  const ended = attempts < 2 ? 'stream-end ' : ''
  planning.log('validate', 'escalate', `${ended}attempts=${attempts}`)
  context.note(`ESCALATE: no valid message after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`)
  return { data: { accepted: false, attempts, errors }, text: '', exit: 1 }
}
