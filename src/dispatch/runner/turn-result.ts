// What came of a turn as a result: only a final structured frame or the result file counts, and only as far as it fits the schema.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { HeimdallError, isErrno, isSystemError } from '../../errors.ts'
import { RESULT_FILE_BYTES_MAX } from '../../limits.ts'
import { DENIED, parseResult, RESULT_STATUSES, resultOf, type TaskResult, type Usage } from '../messages.ts'
import { isObject } from '../../plain-object.ts'
import type { Order } from './order.ts'
import type { Denial, TurnEnd } from './runtime.ts'

/** What `structured` asks of an agent: the seed's fields of a result that only the agent can know. */
export const STRUCTURED_SCHEMA = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['done', 'partial', 'error', 'blocked'] },
    summary: { type: 'string' },
    next_steps: { type: 'array', items: { type: 'string' } },
    remaining: { type: 'array', items: { type: 'string' } },
    blocked_reason: { type: ['string', 'null'] },
    pr: { type: ['string', 'null'] },
  },
  required: ['status', 'summary', 'next_steps', 'remaining', 'blocked_reason', 'pr'],
  additionalProperties: false,
} as const

/** Why a reply could never be held to this schema; nothing where it can. Asked before a token is spent. */
export async function schemaFault(schema: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const compiled = await compile(schema)
  return 'fault' in compiled ? compiled.fault : undefined
}

async function fits(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<string | undefined> {
  const compiled = await compile(schema)
  return 'fault' in compiled ? `the schema cannot be used: ${compiled.fault}` : compiled.validate(value)
}

async function compile(
  schema: Readonly<Record<string, unknown>>,
): Promise<{ fault: string } | { validate: (value: unknown) => string | undefined }> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  try {
    const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false, validateSchema: false })
    const { $schema: _, ...bare } = schema
    const validate = ajv.compile(bare)
    return { validate: (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors)) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { fault: error.message }
  }
}

/** Nothing where the reply is as asked; otherwise what a repair turn is told. */
export async function faultOf(
  { replySchema, jsonSchema }: Order,
  { structured }: TurnEnd,
): Promise<string | undefined> {
  if (replySchema === 'prose' || jsonSchema === null) return undefined
  if (structured === undefined || structured === null) return 'the reply is not JSON'
  return await fits(jsonSchema, structured)
}

/** What the conversation came to, with its earlier turns. */
interface Conversation {
  readonly usage: Usage
  readonly spent: number
  readonly toolCalls: number
  readonly denied: readonly Denial[]
}

export function resultOfTurn(
  order: Order,
  end: TurnEnd,
  { usage, spent, toolCalls, denied: allDenied }: Conversation,
  fault: string | undefined,
): TaskResult {
  // `task merge` commits what the agent was not permitted to commit.
  const denied = order.hasWorktree ? allDenied.filter((one) => !isCommit(one)) : allDenied
  const common = {
    ...measured(usage, spent),
    task_id: order.taskId,
    attempt: order.attempt,
    source: 'runtime' as const,
  }
  if (end.stoppedBy !== null)
    return resultOf({
      ...common,
      status: 'partial',
      remaining: [`stopped by its runtime: ${end.stoppedBy}`, ...(denied.length === 0 ? [] : [deniedReason(denied)])],
      reply: end.text,
    })
  if (end.isError)
    return resultOf({
      ...common,
      status: 'error',
      error: {
        summary: nonEmpty(end.text, 'the runtime failed'),
        phase: 'run',
        side_effects: toolCalls > 0 ? 'possible' : 'none',
      },
    })
  if (denied.length > 0)
    return resultOf({
      ...common,
      status: 'error',
      error: { summary: deniedReason(denied), code: DENIED, phase: 'run', side_effects: 'possible' },
      next_steps: [ALLOW_HINTS[order.runtime]],
      reply: end.text,
    })
  if (order.replySchema === 'prose') return resultOf({ ...common, status: 'done', reply: end.text })
  if (fault !== undefined)
    return resultOf({
      ...common,
      status: 'done',
      reply: end.text,
      schema_valid: false,
      next_steps: [`reply: ${fault}`],
    })
  if (order.replySchema === 'json')
    return resultOf({ ...common, status: 'done', reply: end.structured, schema_valid: true })
  return structuredResult(common, end.structured as Record<string, unknown>)
}

/** True for a shell command that runs only git add and git commit. */
function isCommit({ target }: Denial): boolean {
  const unquoted = target.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'/gs, '')
  return unquoted.split(/[;&|\n]+/).every((part) => /^\s*git (?:add|commit)(?:\s|$)/.test(part))
}

/** So many calls are named; the rest is counted. Names and targets are the agent's words, and a result has bounds. */
const DENIALS_NAMED = 5
const DENIED_CHARS = 80

const cut = (text: string): string => (text.length > DENIED_CHARS ? `${text.slice(0, DENIED_CHARS)}…` : text)

function deniedReason(denied: readonly Denial[]): string {
  const calls = [
    ...new Set(
      denied.map(({ tool, target }) => `${nonEmpty(cut(tool), 'unknown')}${target === '' ? '' : ` (${cut(target)})`}`),
    ),
  ]
  const more = calls.length > DENIALS_NAMED ? ` and ${calls.length - DENIALS_NAMED} more` : ''
  return `the agent was denied permission: ${calls.slice(0, DENIALS_NAMED).join(', ')}${more}`
}

/** A worker has no human to ask: its agent's permissions are set when it is started. */
const ALLOW_HINTS: Readonly<Record<Order['runtime'], string>> = {
  claude:
    'allow it when the worker is started: heimdall worker start -- claude --permission-mode acceptEdits for edits, ' +
    '--allowedTools "Bash(npm test:*)" for commands; or in permissions.allow of .claude/settings.json',
  codex: 'allow it in the configuration of Codex (sandbox_mode, approval_policy), and start the worker again',
  command: 'allow it when the worker is started',
}

function structuredResult(
  common: Pick<TaskResult, 'task_id' | 'attempt' | 'tokens_spent' | 'usage' | 'source'>,
  said: Record<string, unknown>,
): TaskResult {
  const texts = (key: string): string[] => (Array.isArray(said[key]) ? said[key].map(String) : [])
  const status = RESULT_STATUSES.find((one) => one === said['status']) ?? 'error'
  const summary = typeof said['summary'] === 'string' ? said['summary'] : ''
  const remaining = texts('remaining')
  const reason = typeof said['blocked_reason'] === 'string' ? said['blocked_reason'] : ''
  return resultOf({
    ...common,
    status,
    reply: summary,
    schema_valid: true,
    next_steps: texts('next_steps'),
    remaining:
      status === 'partial' && remaining.length === 0 ? [nonEmpty(summary, 'not all of it was done')] : remaining,
    ...(status === 'error'
      ? { error: { summary: nonEmpty(summary, 'the agent gave up'), phase: 'run' as const } }
      : {}),
    ...(status === 'blocked'
      ? {
          blocked_reason: nonEmpty(reason, nonEmpty(summary, 'the agent is blocked')),
          blocked: { class: 'needs_input' as const, code: 'needs_input' },
        }
      : {}),
    artifacts: typeof said['pr'] === 'string' ? { pr: said['pr'] } : {},
  })
}

/** The file of a command that has no final frame: a TASK_RESULT, or the fields of one. Absent, its exit code is all there is. */
export async function resultOfFile(order: Order, path: string, exitCode: number): Promise<TaskResult> {
  const common = { task_id: order.taskId, attempt: order.attempt }
  const read = readResultFile(path)
  if (read === undefined)
    return exitCode === 0
      ? resultOf({
          ...common,
          status: 'done',
          usage: UNKNOWN,
          ...(order.replySchema === 'prose' ? {} : { schema_valid: false }),
        })
      : resultOf({
          ...common,
          status: 'error',
          usage: UNKNOWN,
          error: { summary: `the command ended with ${exitCode}`, code: `exit_${exitCode}` },
        })
  if ('fault' in read) return wrong(order, read.fault)
  const { value } = read
  try {
    const said = parseResult({ type: 'TASK_RESULT', protocol_version: '2.0', status: 'done', ...value, ...common })
    const spent = said.tokens_spent
    const usage = said.usage ?? { ...UNKNOWN, source: spent === null ? ('unknown' as const) : ('estimate' as const) }
    const valid = await schemaValid(order, said.reply)
    // A file that says neither how the task ended nor what it did counts as none.
    const isSaid = 'status' in value || said.reply !== undefined
    const result: TaskResult = { ...said, usage, ...(isSaid ? { source: 'file' as const } : {}), ...valid }
    return result.status === 'done' && exitCode !== 0 ? failedAfterDone(result, exitCode) : result
  } catch (error) {
    if (!(error instanceof HeimdallError)) throw error
    return wrong(order, error.message)
  }
}

/** The command reported *done* and then failed or was killed: what it did is kept, the task is not done. */
const failedAfterDone = (result: TaskResult, exitCode: number): TaskResult => ({
  ...result,
  status: 'error',
  error: {
    summary: `the command reported done, then ended with ${exitCode}`,
    code: `exit_${exitCode}`,
    phase: 'run',
    side_effects: 'possible',
  },
})

async function schemaValid({ replySchema, jsonSchema }: Order, reply: unknown): Promise<{ schema_valid?: boolean }> {
  if (replySchema === 'prose') return {}
  if (replySchema === 'structured' || jsonSchema === null)
    return { schema_valid: reply !== undefined || replySchema === 'structured' }
  return { schema_valid: (await fits(jsonSchema, reply)) === undefined }
}

const wrong = ({ taskId, attempt }: Order, fault: string): TaskResult =>
  resultOf({
    task_id: taskId,
    attempt,
    status: 'error',
    usage: UNKNOWN,
    error: { summary: `HEIMDALL_RESULT_FILE: ${fault}`, code: 'wrong_result', phase: 'reply' },
  })

/** A pipe, a folder or a device would hold us, or never end: it is opened without waiting, and only a regular file is read. */
function readResultFile(path: string): { value: Record<string, unknown> } | { fault: string } | undefined {
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    const stats = fstatSync(fd)
    if (!stats.isFile()) return { fault: 'it is no regular file' }
    const bytes = Buffer.alloc(Math.min(stats.size, RESULT_FILE_BYTES_MAX) + 1)
    const size = readWhole(fd, bytes)
    if (size > RESULT_FILE_BYTES_MAX) return { fault: `more than ${RESULT_FILE_BYTES_MAX} bytes` }
    const value: unknown = JSON.parse(bytes.toString('utf8', 0, size))
    return isObject(value) ? { value } : { fault: 'not a JSON object' }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    // A link: what it leads to is not what the task has written.
    if (isErrno(error, 'ELOOP')) return { fault: 'it is no regular file' }
    if (error instanceof SyntaxError) return { fault: 'not JSON' }
    if (isSystemError(error)) return { fault: `it cannot be read: ${error.message}` }
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function readWhole(fd: number, bytes: Buffer): number {
  let at = 0
  for (let read = -1; read !== 0 && at < bytes.length; at += read) read = readSync(fd, bytes, at, bytes.length - at, at)
  return at
}

export const UNKNOWN: Usage = {
  source: 'unknown',
  input: null,
  output: null,
  cache_read: null,
  cache_write: null,
  reasoning: null,
  cost_usd_est: null,
}

export const measured = (usage: Usage, spent: number): Pick<TaskResult, 'tokens_spent' | 'usage'> => ({
  tokens_spent: usage.source === 'unknown' ? null : spent,
  usage,
})

const nonEmpty = (text: string, otherwise: string): string => (text.trim() === '' ? otherwise : text.slice(0, 16_000))
