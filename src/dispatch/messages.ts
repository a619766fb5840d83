// The three messages of seed 003 as schemas: what the seed has, to the letter, and what we add. Unknown fields are passed over, unknown words take the safe default.
import { z } from 'zod'
import { HeimdallError } from '../errors.ts'
import { printable } from '../ids.ts'
import { DISPATCH_BRIEF_BYTES_MAX, DISPATCH_NAMES_MAX, DISPATCH_TEXT_CHARS_MAX } from '../limits.ts'

export const DISPATCH_PROTOCOL = '2.0'

export const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const
export const REPLY_SCHEMAS = ['prose', 'structured', 'json'] as const
export const MODEL_TIERS = ['haiku', 'sonnet', 'opus'] as const
/** Code of an error: the runtime refused its agent a tool, and no human was there to approve it. */
export const DENIED = 'permission_denied'
export const RESULT_STATUSES = ['done', 'blocked', 'error', 'partial'] as const
export const USAGE_SOURCES = ['runtime', 'provider', 'estimate', 'unknown'] as const

export type Priority = (typeof PRIORITIES)[number]
export type ReplySchema = (typeof REPLY_SCHEMAS)[number]

const name = z.string().min(1).max(256)
const names = z.array(name).max(DISPATCH_NAMES_MAX)
const prose = z.string().max(DISPATCH_TEXT_CHARS_MAX)
const count = z.int().min(0)
/** Major 2; a minor is additive, and what it adds is passed over by those who do not know it. */
const version = z.string().regex(/^2\.\d{1,4}$/)
/** ISO 8601 with a zone: a time without one means something else on every machine. */
const time = z.iso.datetime({ offset: true })

/** A `traceparent` of W3C Trace Context: what the task belongs to, in the eyes of whoever sent it. One that is none is passed over. */
const trace = z
  .string()
  .regex(/^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/)
  .optional()
  .catch(undefined)

export const isTime = (text: string): boolean => time.safeParse(text).success

/** What a probe of an MCP server found; any other word is no health to rely on. */
export const HEALTH = ['ok', 'timeout', 'failed', 'needs_auth', 'disabled', 'unknown'] as const

export const announceSchema = z.object({
  type: z.literal('SESSION_ANNOUNCE'),
  protocol_version: version,
  worker: z.object({
    agent_id: name,
    model: z.string().max(256),
    model_tier: z.string().max(64),
    context_window: count,
  }),
  capabilities: z.object({ tools: names, mcp_servers: names }),
  mcp_health: z.record(name, z.enum(HEALTH).catch('unknown')),
  session: z.object({
    context_id: z.string().max(512),
    active_tasks: count,
    repo_state: z.object({ branch: z.string().max(512).nullable(), clean: z.boolean() }),
    session_fresh: z.boolean(),
  }),
  instance_id: z.string().max(64).default(''),
  seq: count.default(0),
  issued_at: z.string().max(64).optional(),
  ttl_s: z.int().min(1).max(3_600).default(45),
  /** In a state that nobody knows it is left alone. */
  state: z.enum(['ready', 'busy', 'draining']).catch('draining').default('ready'),
  max_concurrent: z.int().min(1).max(1_000).default(1),
  /** Write tasks run in a worktree of their own, so that a dirty tree is in nobody's way. */
  worktrees: z.boolean().default(false),
  /** Ids of its repository: the first commits, which every clone has, and one of the folder on its machine. */
  repository: names.default([]),
  budget_enforcement: z.enum(['hard', 'measured', 'none']).catch('none').default('none'),
  url: z.string().max(2_048).optional(),
  features: names.default([]),
  mcp_checked: z.record(name, z.object({ checked_at: z.string(), latency_ms: z.number().nullable() })).optional(),
  /** Attempts that it has at present: an orchestrator that was restarted finds them again. */
  running: z
    .array(z.object({ dispatch_id: name, attempt: count, a2a_task_id: name, since: z.string() }))
    .max(1_000)
    .default([]),
})

export type Announce = z.infer<typeof announceSchema>

export const dispatchSchema = z.object({
  type: z.literal('TASK_DISPATCH'),
  protocol_version: version,
  task: z.object({
    task_id: name,
    priority: z.enum(PRIORITIES).catch('normal').default('normal'),
    reply_schema: z.enum(REPLY_SCHEMAS).catch('prose').default('prose'),
    token_budget: count.nullable().default(null),
    scopes: names.default([]),
    /** One line for people; branches, worktrees and sessions are named after it. */
    title: z.string().max(200).optional(),
    /** The attempt whose worktree and conversation this one continues: its brief is what comes next. */
    continues: z.int().min(1).max(1_000).optional(),
    /** The task whose branch the work builds on, and that branch once it is known. */
    after: name.optional(),
    base: z.string().min(1).max(512).optional(),
    /** What the work begins with: a worker that does not have it says so. */
    commit: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/)
      .optional(),
    /** With `json`: what the reply has to conform to. */
    json_schema: z.record(z.string(), z.unknown()).optional(),
    /** It may be run again after an attempt that nobody knows the end of. */
    idempotent: z.boolean().default(false),
    /** A partial result is good enough to be called completed. */
    accept_partial: z.boolean().default(false),
    /** Seconds that a worker keeps a task open which was stopped at its budget or its turns: a person may give it more. */
    resume_s: z.int().min(1).max(86_400).optional(),
  }),
  requirements: z
    .object({
      required_mcp: names.default([]),
      required_capabilities: names.default([]),
      /** A tier that nobody knows is at least the highest that is known. */
      min_model_tier: z.enum(MODEL_TIERS).nullable().catch('opus').default(null),
      writes: z.boolean().default(true),
      /** Ids of the repository that the work is in, of which a worker has to announce one. */
      repository: names.default([]),
    })
    .default({ required_mcp: [], required_capabilities: [], min_model_tier: null, writes: true, repository: [] }),
  deadline: time.nullable().default(null),
  brief: z.string().min(1),
  /** In a fleet: `brief` is how it begins, and all of it lies beside the log. */
  brief_beside: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: count }).optional(),
  dispatch_id: name.optional(),
  attempt: z.int().min(1).max(1_000).default(1),
  /** By the clock of whoever sent it: the deadline is judged by that clock, however wrong another is. */
  sent_at: time.optional().catch(undefined),
  trace,
})

export type TaskDispatch = z.infer<typeof dispatchSchema>

export const usageSchema = z.object({
  source: z.enum(USAGE_SOURCES).catch('unknown'),
  input: count.nullable().default(null),
  output: count.nullable().default(null),
  cache_read: count.nullable().default(null),
  cache_write: count.nullable().default(null),
  reasoning: count.nullable().default(null),
  cost_usd_est: z.number().min(0).nullable().default(null),
  turns: count.optional(),
  tool_calls: count.optional(),
  by_model: z.record(z.string(), z.unknown()).optional(),
  includes_subagents: z.boolean().optional(),
})

export type Usage = z.infer<typeof usageSchema>

export const BLOCK_CLASSES = [
  'capability',
  'overload',
  'transient',
  'workspace',
  'dependency',
  'needs_input',
  'auth',
  'policy',
] as const

export type BlockClass = (typeof BLOCK_CLASSES)[number]

export const blockedSchema = z.object({
  /** An unknown class is not guessed at: a person looks. */
  class: z.enum(BLOCK_CLASSES).catch('needs_input'),
  code: z.string().max(64),
  missing: names.default([]),
  retry_after_s: z.int().min(0).max(86_400).nullable().default(null),
  depends_on: name.nullable().default(null),
})

export type Blocked = z.infer<typeof blockedSchema>

const resultShape = z.object({
  type: z.literal('TASK_RESULT'),
  protocol_version: version,
  task_id: name,
  status: z.enum(RESULT_STATUSES).catch('error'),
  /** Null where nothing measured it: `usage.source` says so. */
  tokens_spent: count.nullable().default(null),
  next_steps: z.array(prose).max(256).default([]),
  blocked_reason: prose.nullable().default(null),
  artifacts: z
    .looseObject({ pr: z.string().max(2_048).nullish(), files_changed: z.array(z.string().max(4_096)).optional() })
    .default({}),
  dispatch_id: name.optional(),
  attempt: z.int().min(1).max(1_000).optional(),
  run_id: name.optional(),
  usage: usageSchema.optional(),
  error: z
    .object({
      summary: prose,
      code: z.string().max(64).optional(),
      phase: z.enum(['start', 'run', 'reply']).catch('run').optional(),
      side_effects: z.enum(['none', 'possible', 'known']).catch('possible').default('possible'),
    })
    .nullable()
    .default(null),
  remaining: z.array(prose).max(256).default([]),
  blocked: blockedSchema.nullable().default(null),
  /** What the task asked for: text, or the value that `json_schema` describes. */
  reply: z.unknown().optional(),
  schema_valid: z.boolean().optional(),
  /** `runtime`: a final frame; `file`: HEIMDALL_RESULT_FILE; `text`: read out of prose; `worker`: it never ran. Absent: an exit code is all there is. */
  source: z.enum(['runtime', 'file', 'text', 'worker']).catch('text').optional(),
  /** Of the dispatch that it answers. */
  trace,
})

export type TaskResult = z.infer<typeof resultShape>

/** What the seed requires of each status is required, whoever sends it. */
export const resultSchema = resultShape.superRefine((result, context) => {
  const lacks = (what: string): void => context.addIssue({ code: 'custom', message: `${result.status} needs ${what}` })
  if (result.status === 'blocked' && (result.blocked_reason ?? '').trim() === '') lacks('blocked_reason')
  if (result.status === 'error' && (result.error?.summary ?? '').trim() === '') lacks('error.summary')
  if (result.status === 'partial' && result.remaining.length === 0) lacks('remaining')
})

export const parseAnnounce = (raw: unknown): Announce => parsed(announceSchema, 'SESSION_ANNOUNCE', raw)

export function parseDispatch(raw: unknown, briefBytesMax = DISPATCH_BRIEF_BYTES_MAX): TaskDispatch {
  const dispatch = parsed(dispatchSchema, 'TASK_DISPATCH', raw)
  const bytes = Buffer.byteLength(dispatch.brief)
  if (bytes > briefBytesMax)
    throw new HeimdallError('DISPATCH_INVALID', `the brief has ${bytes} bytes, limit ${briefBytesMax}`, {
      hint: 'refer to capsules, symbols and files instead of repeating them: heimdall brief build',
    })
  return dispatch
}

/** Of all of it, wherever it lies. */
export const briefBytes = ({ brief, brief_beside: beside }: TaskDispatch): number =>
  beside?.bytes ?? Buffer.byteLength(brief)

export const parseResult = (raw: unknown): TaskResult => parsed(resultSchema, 'TASK_RESULT', raw)

function parsed<T>(schema: z.ZodType<T>, type: string, raw: unknown): T {
  const result = schema.safeParse(raw)
  if (result.success) return result.data
  const seen = result.error.issues
    .slice(0, 4)
    .map((issue) => sentence(issue, type))
    .join('; ')
  throw new HeimdallError('DISPATCH_INVALID', `not a ${type}: ${printable(seen)}`, {
    hint: 'docs/dispatch.md has the fields of the three messages',
  })
}

/** What is wrong with a field, as a person would say it. */
function sentence(issue: z.core.$ZodIssue, type: string): string {
  const where = issue.path.length === 0 ? type : issue.path.join('.')
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? `${where} is missing`
        : `${where} is not of type ${issue.expected}`
    case 'invalid_value':
      return `${where} is not ${issue.values.map(String).join(' or ')}`
    case 'too_big':
      return `${where} is above the limit of ${issue.maximum}`
    case 'too_small':
      return `${where} is below the minimum of ${issue.minimum}`
    case 'invalid_format':
      return `${where} does not have the form of ${issue.format === 'datetime' ? 'a time with a zone' : `a ${where.split('.').at(-1)}`}`
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return `${where}: ${issue.message}`
  }
}

/** A result of ours: what is left out is as if nothing had been said. */
export function resultOf(fields: Omit<z.input<typeof resultShape>, 'type' | 'protocol_version'>): TaskResult {
  return parseResult({ type: 'TASK_RESULT', protocol_version: DISPATCH_PROTOCOL, ...fields })
}
