// Everything that the browser and the hub say to each other: requests, replies, live events, messages of a terminal. The page knows this file and nothing else of ours.
//
// Names are those of `--json`. Times are ISO 8601 by the hub's clock. Text that agents wrote is text, whatever it looks like.
// `?project=ID` chooses a project in every route below `/api` that speaks of one; without it the first is meant.
import { z } from 'zod'

const time = z.iso.datetime()
const count = z.int().nonnegative()

/** By whom, or from what, something is known; `detail` is for a person's eye. */
export const cardEvidence = z.object({ source: z.string(), detail: z.string().nullable(), since: time.nullable() })

// ---- what is said of errors and of bad days

/** Every refusal. `still_works` is there where a part of the page goes on without this one. */
export const refusalReply = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    hint: z.string().nullable(),
    still_works: z.string().nullable(),
  }),
})

/** What is missing, what works all the same, and what mends it. One per trouble; it goes by itself. */
export const banner = z.object({
  banner_id: z.string(),
  project: z.string().nullable(),
  code: z.string(),
  since: time,
  missing: z.string(),
  still_works: z.string(),
  mend: z.string().nullable(),
})

// ---- the hub itself: GET /api/hub; signing in: POST /api/login, GET /api/hello, POST /api/pass, POST /api/logout

export const project = z.object({ project: z.string(), name: z.string(), root: z.string() })

export const hubReply = z.object({
  version: z.string(),
  now: time,
  started_at: time,
  read_only: z.boolean(),
  /** The person in whose name answers are recorded. */
  person: z.string(),
  /** Programs that can be run under watch and are on this machine, the likeliest first. */
  programs: z.array(z.string()),
  projects: z.array(project),
  banners: z.array(banner),
})

/** Bytes as base64url: keys are SPKI, proofs are signatures (P-256, SHA-256) or HMAC-SHA-256. */
const bytes = z.string().regex(/^[\w-]{20,400}$/)
const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** What follows `#key=` in the one-time link stays in the browser: `link` is its hash, and `proof` is made with it. */
export const loginRequest = z.strictObject({ link: hash, visitor: bytes, proof: bytes })
/** The public key of the hub, which the browser keeps, with a proof by the link that it is the hub's. */
export const loginReply = z.object({ hub: bytes, proof: bytes })

/** The hub signs the nonce before the browser sends anything else. `instance` is new with each start of the hub. */
export const helloRequest = z.object({ nonce: bytes })
export const helloReply = z.object({ instance: bytes, proof: bytes })

/** The browser signs the instance, and gets a pass that is valid until the hub stops: in `x-heimdall-pass`, or as `?pass=` where a browser sends no headers of a page (the feed, terminals). */
export const passRequest = z.strictObject({ visitor: hash, proof: bytes })
export const passReply = z.object({ pass: z.string() })

// ---- agents: GET /api/fleet, GET /api/agents/:agent

export const cardState = z.enum([
  'needs_you',
  'collision',
  'looping',
  'stuck',
  'lost',
  'stale',
  'working',
  'idle',
  'failed',
  'cancelled',
  'done',
])
export const liveness = z.enum(['active', 'stale', 'evicted'])

export const tokens = z.object({
  /** All of them; cached reads and the rest apart. */
  total: count,
  cached: count,
  uncached: count,
  cost_usd: z.number().nullable(),
  /** Where the figures come from, and of which day the prices are. */
  source: z.string(),
  prices_of: z.string().nullable(),
  since: time.nullable(),
})

export const claimCard = z.object({
  claim_id: z.string(),
  agent_id: z.string(),
  haid: z.string(),
  scopes: z.array(z.string()),
  epoch: count,
  task: z.string().nullable(),
  intent: z.string().nullable(),
  since: time,
  expires_at: time,
  liveness,
  lease: z.enum(['live', 'lapsed']),
  origin: z.enum(['local', 'remote']),
})

/** Stuck, dead, looping: what is wrong, with the count and time that show it. */
export const agentProblem = z.object({
  kind: z.enum(['looping', 'stuck', 'lost', 'stale', 'dead']),
  text: z.string(),
  count: count.nullable(),
  evidence: cardEvidence,
})

export const agentCard = z.object({
  agent_id: z.string(),
  /** Null of a plain session, which is nobody in coordination. */
  haid: z.string().nullable(),
  role: z.string().nullable(),
  /** The program that it runs in: `Claude Code`, `Codex`, or the command. */
  host: z.string(),
  state: cardState,
  /** Why this state, and since when. */
  evidence: cardEvidence,
  problems: z.array(agentProblem),
  liveness,
  task: z.object({ task_id: z.string(), title: z.string() }).nullable(),
  branch: z.string().nullable(),
  uncommitted: count.nullable(),
  worktree: z.string().nullable(),
  last_line: z.string().nullable(),
  claims: z.array(claimCard),
  tokens: tokens.nullable(),
  calls: count.nullable(),
  /** What its terminal is asked for by: `api`, or `api@box` of one on another machine. */
  session_id: z.string().nullable(),
  /** Another one of the fleet; null of this one. */
  machine: z.string().nullable(),
  run_id: z.string().nullable(),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  exit_code: z.int().nullable(),
  /** Whether its calls and writes are held to claims and policy, and through what. */
  guard: z.object({ kind: z.enum(['guarded', 'advisory']), by: z.array(z.string()), evidence: z.string() }).nullable(),
  /** Open waits of this agent, oldest first. */
  wait_ids: z.array(z.string()),
  /** Time that it has spent waiting for a person in this run. */
  waited: z.object({ count, ms: count, source: z.string() }).nullable(),
  /** The same in a terminal. */
  command: z.string(),
})

export const fleetTotals = z.object({
  agents: count,
  by_state: z.record(cardState, count),
  waits: count,
  oldest_wait_since: time.nullable(),
  collisions: count,
  guarded: count,
  advisory: count,
  tokens: tokens.nullable(),
  policy: z.object({ name: z.string(), mode: z.string() }).nullable(),
  /** Last number of the coordination log. */
  seq: count,
})

/** Who needs you first: in the order of the screen. */
export const fleetReply = z.object({ at: time, agents: z.array(agentCard), totals: fleetTotals })
export const agentReply = z.object({ at: time, agent: agentCard })

// ---- waits: GET /api/waits, POST /api/waits/:wait/answer, POST /api/waits/:wait/snooze

export const waitCardKind = z.enum(['permission', 'question', 'needs_input', 'collision', 'budget', 'tool_changed'])

/** What answers a wait, in the host's own order: `1` here types its choice 1 there. */
export const waitChoice = z.object({
  answer_id: z.string(),
  label: z.string(),
  /** `type`: goes into the session as keys. The others are recorded where the question lies. */
  act: z.enum([
    'type',
    'allow',
    'deny',
    'ack',
    'approve_pin',
    'wait',
    'ask_holder',
    'answer_task',
    'retry_task',
    'cancel_task',
  ]),
  /** At most one: the amber button. */
  is_first: z.boolean(),
  needs_text: z.boolean(),
  /** It asks again before it acts. */
  asks_first: z.boolean(),
  /** What comes of it, in a few words. */
  note: z.string().nullable(),
})

const fact = z.object({ label: z.string(), text: z.string(), evidence: z.string().nullable() })

export const waitCard = z.object({
  wait_id: z.string(),
  kind: waitCardKind,
  /** Null where it is of the whole project, such as a tool that changed while nobody asked for it. */
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable(),
  /** What it is about: the task whose worker asks, or that the agent is at. */
  task: z.string().nullable(),
  /** One line for the list. */
  title: z.string(),
  /** What is asked, whole: the command, the question, the text of the note. */
  asked: z.string(),
  since: time,
  /** Who saw it: `hook PermissionRequest`, `note BLOCKED`, `claim refused`, … */
  evidence: cardEvidence,
  answers: z.array(waitChoice),
  /** Put off until then; it comes back by itself. */
  snoozed_until: time.nullable(),
  /** "What it touches" and "Why you are asked", as far as it is known. */
  touches: z.array(fact),
  why: z.array(fact),
  collision: z
    .object({
      scope: z.string(),
      holder: z.string(),
      holder_claim: z.string().nullable(),
      kind: z.enum(['exact', 'partial']),
      attempts: count,
      place: count.nullable(),
    })
    .nullable(),
  note_id: z.string().nullable(),
  approval_id: z.string().nullable(),
  pin: z
    .object({
      server: z.string(),
      tool: z.string(),
      hash: z.string(),
      fields: z.array(z.string()),
      diff: z.array(z.string()),
    })
    .nullable(),
  command: z.string(),
})

export const answeredWait = z.object({
  wait_id: z.string(),
  agent_id: z.string(),
  kind: waitCardKind,
  /** `Allowed, once, by ana`, `Answered in its terminal, by ana`, `Went on by itself`, `Ended before an answer`. */
  outcome: z.string(),
  /** Somebody gave one; the others are over without, and not counted. */
  is_answer: z.boolean(),
  at: time,
  waited_ms: count.nullable(),
})

export const waitsReply = z.object({
  at: time,
  /** Oldest first; snoozed ones come last. */
  waits: z.array(waitCard),
  /** What is over, the newest first. */
  answered: z.array(answeredWait),
  /** Agent time that is being spent on waiting now, and how quickly waits were answered. */
  waiting_ms: count,
  answered_count: count,
  answered_since: time.nullable(),
  median_answer_ms: count.nullable(),
})

export const answerRequest = z.strictObject({ answer_id: z.string().max(64), text: z.string().max(16_384).optional() })
export const snoozeRequest = z.strictObject({ minutes: z.int().min(1).max(1_440) })

/** Of every act: what was done, and in whose name it is on record. `gone`: it was answered otherwise in the meantime. */
export const actReply = z.object({
  done: z.boolean(),
  outcome: z.enum(['sent', 'recorded', 'snoozed', 'gone']),
  text: z.string(),
  by: z.object({ kind: z.literal('human'), name: z.string() }),
  at: time,
})

// ---- sessions per task, and conversations: GET /api/sessions, /api/sessions/:task/conversation, /api/agents/:agent/conversation (seed 002 §6.3)

const taskState = z.enum([
  'queued',
  'placing',
  'running',
  'blocked',
  'parked',
  'partial',
  'done',
  'failed',
  'cancelled',
])

export const taskSession = z.object({
  task_id: z.string(),
  title: z.string(),
  /** `none`: it was spoken of and never begun. */
  state: z.union([taskState, z.literal('none')]),
  owner: z.string().nullable(),
  liveness: liveness.nullable(),
  agents: z.array(z.string()),
  last_at: time,
  last_text: z.string(),
  needs_input: z.boolean(),
  conflict: z.enum(['exact', 'partial']).nullable(),
  rows: count,
})
export const sessionsReply = z.object({ at: time, sessions: z.array(taskSession) })

export const rowKind = z.enum(['note', 'incursion', 'resume', 'claim', 'task', 'decision', 'wait', 'run', 'other'])

export const conversationRow = z.object({
  /** The same row always has the same id. */
  row_id: z.string(),
  at: time,
  kind: rowKind,
  /** `Passed to`, `Needs input`, `Incursion`, `Resume`, `Claimed`, `Refused with a hint`, … */
  label: z.string(),
  actor: z.string().nullable(),
  actor_kind: z.enum(['agent', 'human', 'system']),
  to: z.string().nullable(),
  task: z.string().nullable(),
  scope: z.string().nullable(),
  text: z.string(),
  detail: z.string().nullable(),
  note: z
    .object({
      note_id: z.string(),
      category: z.string(),
      state: z.enum(['unread', 'read', 'acked']),
      requires_ack: z.boolean(),
      from: z.string(),
      next_action: z.string().nullable(),
      requested_action: z.string().nullable(),
      urgency: z.string().nullable(),
      seen_at: time.nullable(),
      accepted_at: time.nullable(),
      accepted_by: z.enum(['agent', 'human', 'system']).nullable(),
    })
    .nullable(),
  /** Of the owner in an incursion, else of the one who acts: stale and evicted are shown. */
  liveness: liveness.nullable(),
  event_type: z.string(),
  event_id: z.string(),
})
export const conversationReply = z.object({
  at: time,
  subject: z.string(),
  rows: z.array(conversationRow),
  /** There are older ones: `?before=<row_id>`. */
  more: z.boolean(),
})

/** POST /api/notes/:note/ack and /seen: recorded as a person's, never as the recipient's. POST /api/notes sends one for an agent. */
export const noteRequest = z.strictObject({
  from: z.string().max(200),
  to: z.string().min(1).max(200),
  category: z.enum(['HANDOFF', 'BLOCKED', 'DECISION', 'INFO']),
  task: z.string().max(200).default('none'),
  subject: z.string().min(1).max(200),
  body: z.string().min(1).max(16_384),
})

/** POST /api/agents/:agent/input: typed as a careful person would; keys come after the text. */
export const inputRequest = z.strictObject({
  text: z.string().max(65_536),
  keys: z.array(z.string().max(32)).max(16).default(['enter']),
})
/** POST /api/agents/:agent/end: asks the session to end, as `hm kill` does. */
export const endRequest = z.strictObject({ reason: z.string().max(500).optional() })
/** POST /api/approvals/:approval */
export const approvalRequest = z.strictObject({
  answer: z.enum(['allow', 'deny']),
  lasts: z.enum(['once', 'run']).default('once'),
  of_rule: z.boolean().default(false),
})
/** POST /api/pins */
export const pinRequest = z.strictObject({ server: z.string(), tool: z.string(), hash: z.string().min(8).max(128) })

// ---- claims: GET /api/claims, GET /api/tree, GET /api/why?path=

export const incursionCard = z.object({
  event_id: z.string(),
  at: time,
  scope: z.string(),
  kind: z.enum(['exact', 'partial']),
  owner: z.string(),
  incoming: z.string(),
  owner_liveness: liveness,
  attempts: count,
  hint: z.string(),
  /** The owner still holds it and the other still wants it. */
  is_open: z.boolean(),
})
export const queued = z.object({
  agent_id: z.string(),
  scopes: z.array(z.string()),
  place: count,
  behind: z.array(z.string()),
})
export const claimsReply = z.object({
  at: time,
  claims: z.array(claimCard),
  incursions: z.array(incursionCard),
  queue: z.array(queued),
})

/** Files that git knows, with their lines and the ids of the claims that hold them; sorted by path. */
export const treeReply = z.object({
  at: time,
  files: z.array(z.object({ path: z.string(), lines: count, claims: z.array(z.string()) })),
  /** More files than are listed. */
  left_out: count,
})
export const whyReply = z.object({
  path: z.string(),
  holders: z.array(
    z.object({
      claim: claimCard,
      kind: z.enum(['exact', 'partial']),
      held: z.string(),
      witness: z.string().nullable(),
      hint: z.string(),
    }),
  ),
  history: z.array(conversationRow),
  command: z.string(),
})

// ---- decisions: GET /api/decisions, GET /api/calls/:run/:call

export const decisionWord = z.enum(['allowed', 'refused_with_hint', 'throttled', 'blocked', 'run_ended', 'undecided'])

export const call = z.object({
  run_id: z.string(),
  call_id: z.string(),
  at: time,
  agent_id: z.string().nullable(),
  server: z.string().nullable(),
  tool: z.string().nullable(),
  args: z.string(),
  decision: decisionWord,
  /** In observe nothing was held back: it *would* have been. */
  enforced: z.boolean(),
  rule: z.string().nullable(),
  reason: z.string().nullable(),
  counters: z.array(
    z.object({ name: z.string(), before: z.number(), after: z.number(), limit: z.number().nullable() }),
  ),
  status: z.string().nullable(),
  latency_ms: z.number().nullable(),
  /** The next call of the same agent, or that it waits, stopped or ended. */
  next: z
    .object({
      text: z.string(),
      at: time.nullable(),
      after_ms: count.nullable(),
      call_id: z.string().nullable(),
      source: z.string(),
    })
    .nullable(),
})
export const decisionsQuery = z.object({
  agent: z.string().optional(),
  run: z.string().optional(),
  rule: z.string().optional(),
  decision: decisionWord.optional(),
  text: z.string().optional(),
  since: time.optional(),
  until: time.optional(),
  before: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})
export const decisionsReply = z.object({
  at: time,
  since: time.nullable(),
  counts: z.record(decisionWord, count),
  calls: z.array(call),
  /** For `before` of the next page; null at the end. */
  next: z.string().nullable(),
})
export const callReply = z.object({
  call,
  /** Number of the call in its run, and of how many. */
  number: count.nullable(),
  args: z.unknown(),
  summary: z.string().nullable(),
  severity: z.string().nullable(),
  hint: z
    .object({ text: z.string(), suggested_args: z.unknown().nullable(), retry_advice: z.string().nullable() })
    .nullable(),
  result: z.string().nullable(),
  policy: z.object({ name: z.string(), version: z.string(), mode: z.string().nullable() }).nullable(),
  next: call.nullable(),
  command: z.string(),
})

// ---- runs: GET /api/runs, GET /api/runs/:run/timeline, GET /api/agents/:agent/changes, POST /api/runs/:run/replay. GET /api/runs/:run/recording is an asciicast.

export const runRow = z.object({
  run_id: z.string(),
  agent_id: z.string().nullable(),
  task: z.string().nullable(),
  status: z.string(),
  mode: z.string().nullable(),
  started_at: time,
  ended_at: time.nullable(),
  calls: count,
  decisions: z.record(decisionWord, count),
  /** For a person at the watcher's word, for another agent at a note's or a claim's; `is_open` where it still does, and `ms` is up to now. */
  waited: z.object({ count, ms: count, for_you_ms: count, is_open: z.boolean() }),
  tokens: tokens.nullable(),
  session_id: z.string().nullable(),
})
export const runsReply = z.object({ at: time, runs: z.array(runRow) })

export const timelineSpan = z.object({
  lane: z.enum(['state', 'call', 'decision', 'note', 'claim']),
  /** Calls: the server. Claims: the scope. */
  track: z.string(),
  from: time,
  to: time.nullable(),
  kind: z.string(),
  label: z.string(),
  /** Of several that fall together, the first. */
  ref: z.string(),
  /** How many calls it stands for: more than one where they cannot be told apart in the range. */
  count: count.min(1),
})
export const timelineReply = z.object({
  at: time,
  run: runRow,
  from: time,
  to: time,
  spans: z.array(timelineSpan),
  /** Calls that were left out because there are too many in this range; zoom in. */
  left_out: count,
  tokens: z.array(z.object({ at: time, cached: count, uncached: count, cost_usd: z.number().nullable() })),
  tokens_source: z.string().nullable(),
})

/** The text of a policy; nothing of it is kept. */
export const replayRequest = z.strictObject({ policy: z.string().min(1).max(524_288) })
export const replayReply = z.object({
  policy: z.object({ name: z.string(), version: z.string(), mode: z.string() }),
  counts: z.object({ total: count, same: count, stricter: count, looser: count, other: count, undecidable: count }),
  rows: z.array(
    z.object({
      at: time,
      server: z.string(),
      tool: z.string(),
      outcome: z.enum(['same', 'stricter', 'looser', 'other', 'undecidable']),
      recorded: z.string(),
      replayed: z.string().nullable(),
    }),
  ),
  left_off: count,
  notes: z.array(z.string()),
})

export const changedFile = z.object({
  path: z.string(),
  added: count.nullable(),
  removed: count.nullable(),
  kind: z.enum(['modified', 'added', 'deleted', 'renamed', 'binary', 'untracked']),
  in_own_claims: z.boolean(),
})
/** How the commit was found that changes are told against; `head`: nothing is known of then, so that only what is not committed is shown. */
export const changesBasis = z.enum(['noted', 'reflog', 'history', 'named', 'head'])
export const changesReply = z.object({
  at: time,
  agent_id: z.string(),
  base: z.string(),
  basis: changesBasis,
  /** Null where it is a commit that was asked about, and where nothing is known of then. */
  since: time.nullable(),
  run_began: time.nullable(),
  files: z.array(changedFile),
  /** Uncommitted files that nothing has touched since, and that are left out. */
  older: count,
  /** Others that work in the same folder: git does not tell whose a change is. */
  also_here: z.array(z.string()),
  /** `?path=` of one file: its unified diff. */
  diff: z.string().nullable(),
  cut: z.boolean(),
})

// ---- what a run that is over has changed: GET /api/runs/:run/changes

export const runChangesReply = z.object({
  at: time,
  run_id: z.string(),
  /** Null while the run goes on, and where nothing was noted when it ended. */
  noted: z
    .object({
      commit_before: z.string().nullable(),
      commit_after: z.string().nullable(),
      commits: count.nullable(),
      /** How many files in all; the first of them are listed. */
      total: count,
      files: z.array(
        z.object({
          path: z.string(),
          added: count.nullable(),
          removed: count.nullable(),
          /** What was not committed when the run ended is known by its name alone. */
          is_committed: z.boolean(),
        }),
      ),
    })
    .nullable(),
  /** `?path=` of one file that was committed: its unified diff, as long as git has both commits. */
  diff: z.string().nullable(),
  cut: z.boolean(),
})

// ---- tokens: GET /api/tokens

export const tokensReply = z.object({
  at: time,
  total: tokens.nullable(),
  by_hour: z.array(z.object({ hour: time, cached: count, uncached: count })),
  by_agent: z.array(z.object({ agent_id: z.string(), task: z.string().nullable(), tokens })),
  briefs: z.array(
    z.object({
      role: z.string(),
      baseline: count.nullable(),
      measured: count.nullable(),
      difference: z.number().nullable(),
      n: count,
      how: z.string(),
    }),
  ),
  tokenizer: z.string().nullable(),
  waits_cost: z.object({ cost_usd: z.number(), waits: count, how: z.string() }).nullable(),
})

// ---- tasks: GET /api/tasks, GET /api/tasks/:task/routing, POST /api/tasks, POST /api/tasks/:task/{answer,cancel,retry}, POST /api/workers/:worker/drain

export const taskRow = z.object({
  task_id: z.string(),
  title: z.string(),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).nullable(),
  state: taskState,
  worker: z.string().nullable(),
  attempt: count.nullable(),
  attempts_max: count.nullable(),
  tokens_spent: count.nullable(),
  tokens_budget: count.nullable(),
  deadline: time.nullable(),
  started_at: time.nullable(),
  ended_at: time.nullable(),
  summary: z.string().nullable(),
})
export const worker = z.object({
  worker: z.string(),
  state: z.string(),
  model_tier: z.string(),
  active: count,
  active_max: count,
  /** As the worker has probed them. */
  mcp: z.array(z.object({ server: z.string(), health: z.string() })),
  announced_at: time.nullable(),
})
export const tasksReply = z.object({ at: time, tasks: z.array(taskRow), workers: z.array(worker) })
export const check = z.object({ name: z.string(), passes: z.boolean(), text: z.string() })
export const routingReply = z.object({
  task_id: z.string(),
  probed_at: time.nullable(),
  summary: z.string(),
  workers: z.array(
    z.object({
      worker: z.string(),
      checks: z.array(check),
      /** Lower is better, the first difference decides; null for one that cannot. */
      score: z.object({ tier: z.number(), is_near: z.boolean(), load: z.number() }).nullable(),
      is_chosen: z.boolean(),
      answer: z.string(),
    }),
  ),
})
/** POST /api/tasks/:task/answer: to what its worker asks. */
export const taskAnswerRequest = z.strictObject({ text: z.string().min(1).max(16_384) })
export const dispatchRequest = z.strictObject({
  title: z.string().min(1).max(200),
  brief: z.string().min(1).max(65_536),
  priority: z.enum(['low', 'normal', 'high', 'urgent']).default('normal'),
  tokens_budget: z.int().positive().optional(),
  deadline: time.optional(),
  /** Only this worker may have it; without one, any that has the repository. */
  worker: z.string().min(1).optional(),
})

// ---- search: GET /api/search?q=

export const hit = z.object({
  kind: z.enum(['agent', 'session', 'path', 'call', 'note', 'decision', 'task']),
  title: z.string(),
  text: z.string(),
  at: time.nullable(),
  state: cardState.nullable(),
  /** Where it is in the page: agent id, path, `run/call`, note id. */
  ref: z.string(),
  command: z.string().nullable(),
})
export const searchReply = z.object({
  q: z.string(),
  took_ms: z.number(),
  counts: z.record(z.string(), count),
  hits: z.array(hit),
})

// ---- screens: GET /api/screens?lines=7&sessions=a,b

export const tone = z.enum(['plain', 'bold', 'dim', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan'])
export const thumbnail = z.object({
  session_id: z.string(),
  at: time,
  cols: count,
  rows: count,
  /** The last lines that have something on them, each as runs of one tone. */
  lines: z.array(z.array(z.tuple([z.string(), tone]))),
  /** False: cells may be missing that were drawn in the middle of a flood. */
  is_whole: z.boolean(),
})
export const screensReply = z.object({ at: time, screens: z.array(thumbnail) })

// ---- live: WebSocket /api/events. `?after=ID` goes on after that message.

/**
 * Events by name. `hello` first, always. Then `state` with `whole: true`, and later with what has changed since.
 * `log` has what happened, in order and once each: its id is where the feed goes on. `screens` only with `?screens=LINES`.
 */
export const liveEvents = {
  hello: z.object({
    at: time,
    version: z.string(),
    project: z.string(),
    /** Events that the feed has made up for since the id that was given; null on a first visit. */
    caught_up: count.nullable(),
    /** What was given is too old or from another store: everything is to be asked for again. */
    reset: z.boolean(),
  }),
  state: z.object({
    at: time,
    whole: z.boolean(),
    agents: z.array(agentCard),
    agents_gone: z.array(z.string()),
    /** The order of the fleet by agent id; null when it has not changed. */
    order: z.array(z.string()).nullable(),
    waits: z.array(waitCard),
    waits_gone: z.array(z.string()),
    totals: fleetTotals.nullable(),
    banners: z.array(banner).nullable(),
  }),
  log: z.object({ rows: z.array(conversationRow), calls: z.array(call) }),
  screens: z.object({ screens: z.array(thumbnail) }),
} as const

// ---- terminals: WebSocket /api/terminals/:session?project=

/**
 * Text frames are these messages; binary frames are bytes of the terminal, both ways. Bytes from the browser count only
 * while it has the keyboard.
 */
export const terminalFromBrowser = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('keyboard'), take: z.boolean() }),
  z.strictObject({ type: z.literal('resize'), cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) }),
  z.strictObject({ type: z.literal('paste'), text: z.string().max(262_144) }),
])

export const terminalFromHub = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    session_id: z.string(),
    cols: count,
    rows: count,
    title: z.string(),
    alive: z.boolean(),
    /** Whether the keyboard may be taken at all. */
    may_type: z.boolean(),
  }),
  /** The terminal is cleared and has this size; what follows draws it anew. */
  z.object({ type: z.literal('reset'), cols: count, rows: count, is_whole: z.boolean() }),
  z.object({ type: z.literal('gap'), dropped_bytes: count }),
  /** Everything until here was the past; from now on it is live. */
  z.object({ type: z.literal('live') }),
  z.object({
    type: z.literal('state'),
    state: z.string(),
    needs_input: z.object({ value: z.boolean(), source: z.string(), evidence: z.string().nullable() }),
    cols: count,
    rows: count,
    title: z.string(),
  }),
  /** Who watches, and whether you type. */
  z.object({ type: z.literal('keyboard'), yours: z.boolean(), watching: count }),
  z.object({ type: z.literal('exit'), code: z.int() }),
  z.object({ type: z.literal('error'), code: z.string(), message: z.string(), hint: z.string().nullable() }),
])

// ---- the types of all that

export type RefusalReply = z.infer<typeof refusalReply>
export type CardEvidence = z.infer<typeof cardEvidence>
export type Banner = z.infer<typeof banner>
export type HubReply = z.infer<typeof hubReply>
export type LoginRequest = z.infer<typeof loginRequest>
export type LoginReply = z.infer<typeof loginReply>
export type HelloReply = z.infer<typeof helloReply>
export type PassRequest = z.infer<typeof passRequest>
export type PassReply = z.infer<typeof passReply>
export type CardState = z.infer<typeof cardState>
export type AgentCard = z.infer<typeof agentCard>
export type ClaimCard = z.infer<typeof claimCard>
export type Tokens = z.infer<typeof tokens>
export type AgentProblem = z.infer<typeof agentProblem>
export type FleetTotals = z.infer<typeof fleetTotals>
export type FleetReply = z.infer<typeof fleetReply>
export type AgentReply = z.infer<typeof agentReply>
export type WaitCardKind = z.infer<typeof waitCardKind>
export type WaitChoice = z.infer<typeof waitChoice>
export type WaitCard = z.infer<typeof waitCard>
export type AnsweredWait = z.infer<typeof answeredWait>
export type WaitsReply = z.infer<typeof waitsReply>
export type AnswerRequest = z.infer<typeof answerRequest>
export type ActReply = z.infer<typeof actReply>
export type TaskSession = z.infer<typeof taskSession>
export type SessionsReply = z.infer<typeof sessionsReply>
export type ConversationRow = z.infer<typeof conversationRow>
export type ConversationReply = z.infer<typeof conversationReply>
export type IncursionCard = z.infer<typeof incursionCard>
export type Queued = z.infer<typeof queued>
export type ClaimsReply = z.infer<typeof claimsReply>
export type TreeReply = z.infer<typeof treeReply>
export type WhyReply = z.infer<typeof whyReply>
export type DecisionWord = z.infer<typeof decisionWord>
export type Call = z.infer<typeof call>
export type DecisionsReply = z.infer<typeof decisionsReply>
export type CallReply = z.infer<typeof callReply>
export type RunRow = z.infer<typeof runRow>
export type RunsReply = z.infer<typeof runsReply>
export type TimelineSpan = z.infer<typeof timelineSpan>
export type DispatchRequest = z.infer<typeof dispatchRequest>
export type NoteRequest = z.infer<typeof noteRequest>
export type ReplayReply = z.infer<typeof replayReply>
export type TimelineReply = z.infer<typeof timelineReply>
export type ChangesReply = z.infer<typeof changesReply>
export type RunChangesReply = z.infer<typeof runChangesReply>
export type TokensReply = z.infer<typeof tokensReply>
export type TaskRow = z.infer<typeof taskRow>
export type TasksReply = z.infer<typeof tasksReply>
export type RoutingReply = z.infer<typeof routingReply>
export type Hit = z.infer<typeof hit>
export type SearchReply = z.infer<typeof searchReply>
export type Thumbnail = z.infer<typeof thumbnail>
export type ScreensReply = z.infer<typeof screensReply>
export type LiveEvents = { [Name in keyof typeof liveEvents]: z.infer<(typeof liveEvents)[Name]> }
/** One text frame of the feed. */
export type FeedMessage = {
  [Name in keyof LiveEvents]: { readonly event: Name; readonly id?: string; readonly data: LiveEvents[Name] }
}[keyof LiveEvents]
export type TerminalFromBrowser = z.infer<typeof terminalFromBrowser>
export type TerminalFromHub = z.infer<typeof terminalFromHub>
