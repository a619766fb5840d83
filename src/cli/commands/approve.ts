// heimdall approve and deny: list the calls that wait for a human, and answer them.
import { HeimdallError } from '../../errors.ts'
import { runsDirOf } from '../../paths.ts'
import { requirePerson } from '../../person.ts'
import { seeable } from '../../pins/difference.ts'
import { isOpen, type Lasts, type PersonAnswer, type Request } from '../../runs/approvals.ts'
import { readAskedCall } from '../../runs/asked-calls.ts'
import { knownRun } from '../../runs/known-run.ts'
import { answerRequest, type AskedIn, requestsIn } from '../../runs/questions.ts'
import { factsOf } from '../../runs/run-facts.ts'
import { type Answer, command, type Command, type Context, type FlagSpec } from '../command.ts'
import { usageError } from '../usage-error.ts'

const FIELDS =
  'id, run_id, rule_id, rule_hash, server_name, tool_name, args_hash, args_preview, question, agent_id, asked_at, times, answer, answered_by, answered_at, lasts, of_rule, closed_at'
const LISTED = `requests (array of {${FIELDS}})`
const ANSWERED = `answered (array of {${FIELDS}})`

const ids = {
  name: 'id',
  help: 'id of a waiting call, or its first characters (four or more)',
  variadic: true,
} as const
const show = {
  value: 'ID',
  help: 'show one call whole: target or command, change, arguments',
} as const satisfies FlagSpec
const all = { help: 'list answered and closed ones too' } as const satisfies FlagSpec
const lastsFlags = {
  once: { help: 'for the next such call only' },
  for: { type: 'duration', value: 'TIME', help: 'for this long, for instance 10m' },
  run: { help: 'for the whole run' },
  rule: { help: 'for every call that the rule asks about, not only this tool with these arguments' },
} as const satisfies Readonly<Record<string, FlagSpec>>
const messageFlag = {
  message: { short: 'm', value: 'TEXT', help: 'reason that the agent receives with the refusal' },
} as const satisfies Readonly<Record<string, FlagSpec>>

const aboutApprove =
  'Allows one call unless a flag says otherwise. A call that is still held continues at once; otherwise the agent may ' +
  'repeat it. Needs a human at a terminal outside sessions and agents.'
const aboutDeny =
  'Denies for the rest of the run unless a flag says otherwise, so that the agent does not ask again. Needs a human.'
const aboutList =
  'Calls stopped by rules with the action ASK, in all runs of this user. A run that ends closes its own.'

export const commands: readonly Command[] = [
  command({
    names: ['heimdall approve'],
    summary: 'List calls that wait for approval, or approve them',
    about: `${aboutList} ${aboutApprove}`,
    args: [{ ...ids, optional: true }],
    flags: { all, show, ...lastsFlags },
    examples: {
      'heimdall approve': 'lists what waits',
      'heimdall approve --show 1f2e': 'shows the call whose id starts with 1f2e, with nothing cut',
      'heimdall approve 1f2e': 'allows the call whose id starts with 1f2e, once',
      'heimdall approve 1f2e --rule --for 10m': 'allows every call that the rule asks about, for ten minutes',
    },
    output: `without an id ${LISTED}, with --show request and call_text, else ${ANSWERED}`,
    run: async (context, { args, flags }) => {
      if (flags.show !== undefined) return showCall(context, flags.show)
      if (args.id.length > 0) return answer(context, args.id, 'allow', flags)
      if (lastsOf(flags) !== undefined || flags.rule === true)
        throw usageError('no id given', 'heimdall approve lists the calls that wait')
      return await list(context, flags.all === true)
    },
  }),
  command({
    names: ['heimdall deny'],
    summary: 'Deny calls that wait for approval',
    about: aboutDeny,
    args: [ids],
    flags: { ...lastsFlags, ...messageFlag },
    examples: {
      'heimdall deny 1f2e': 'denies that call for the rest of the run',
      'heimdall deny 1f2e -m "do not touch production"': 'denies it, and tells the agent why',
    },
    output: ANSWERED,
    run: async (context, { args, flags }) => answer(context, args.id, 'deny', flags),
  }),
  command({
    names: ['sub approvals list'],
    summary: 'List calls that wait for a human',
    about: aboutList,
    flags: { all, run: { value: 'ID', help: 'of one run' } },
    examples: { 'sub approvals list': 'lists what waits' },
    output: LISTED,
    run: async (context, { flags }) => await list(context, flags.all === true, flags.run),
  }),
  command({
    names: ['sub approvals allow'],
    summary: 'Allow calls that wait for a human',
    about: aboutApprove,
    args: [ids],
    flags: lastsFlags,
    examples: { 'sub approvals allow 1f2e3d4c': 'allows that call, once' },
    output: ANSWERED,
    run: async (context, { args, flags }) => answer(context, args.id, 'allow', flags),
  }),
  command({
    names: ['sub approvals deny'],
    summary: 'Deny calls that wait for a human',
    about: aboutDeny,
    args: [ids],
    flags: { ...lastsFlags, ...messageFlag },
    examples: { 'sub approvals deny 1f2e3d4c': 'denies that call for the rest of the run' },
    output: ANSWERED,
    run: async (context, { args, flags }) => answer(context, args.id, 'deny', flags),
  }),
]

async function list(context: Context, showsAll: boolean, runId?: string): Promise<Answer> {
  const runsDir = runsDirOf(context.env)
  if (runId !== undefined) knownRun(runsDir, runId)
  const requests = requestsIn(runsDir)
    // The call of a lost run does not wait any more.
    .filter(({ request, folder }) => showsAll || !isOpen(request) || !isLost(folder))
    .map(({ request }) => request)
    .filter((one) => (showsAll || isOpen(one)) && (runId ?? one.run_id) === one.run_id)
    .sort((a, b) => a.asked_at.localeCompare(b.asked_at))
  const texts = requests.map((one) => textOf(context, one, one.args_preview))
  return { data: { requests }, text: texts.length === 0 ? 'No call waits for approval.' : texts.join('\n\n') }
}

function showCall(context: Context, id: string): Answer {
  const { folder, request } = withId(id, requestsIn(runsDirOf(context.env)))
  const callText = readAskedCall(folder, request.id) ?? request.args_preview
  return { data: { request, call_text: callText }, text: textOf(context, request, callText) }
}

/** The tool and its target, the question, then the call in lines. The words are those of agents and servers. */
function textOf(
  { style }: Context,
  request: Pick<
    Request,
    'id' | 'server_name' | 'tool_name' | 'agent_id' | 'question' | 'rule_id' | 'answer' | 'closed_at'
  >,
  callText: string,
): string {
  const { id, server_name: server, tool_name: tool, agent_id: agent, question, rule_id: rule } = request
  const [target = '', ...lines] = callText.split('\n').map(seeable)
  const state = request.answer ?? (request.closed_at === null ? 'open' : 'closed')
  return [
    `${id}  ${state}  ${style.color.bold(seeable(`${server} ${tool} ${target}`))}`,
    seeable(`  ${question} (${agent}, rule ${rule})`),
    ...lines.map((line) => `  ${line}`),
  ].join('\n')
}

interface AnswerFlags {
  readonly once?: boolean | undefined
  readonly for?: number | undefined
  readonly run?: boolean | undefined
  readonly rule?: boolean | undefined
  readonly message?: string | undefined
}

async function answer(
  context: Context,
  given: readonly string[],
  said: PersonAnswer,
  flags: AnswerFlags,
): Promise<Answer> {
  const lasts = lastsOf(flags) ?? { kind: said === 'deny' ? 'run' : 'once' }
  const person = requirePerson(context.calledAs)
  const all = requestsIn(runsDirOf(context.env))
  const ofRule = flags.rule === true
  const message = flags.message ?? null
  // All ids are resolved before the first answer is written.
  const found = given.map((id) => withId(id, all))
  // One lasting answer for a rule answers all its questions.
  const keyOf = ({ folder, request }: AskedIn): string =>
    ofRule && lasts.kind !== 'once' ? JSON.stringify([folder, request.rule_id, request.rule_hash]) : request.id
  const asked = [...new Map(found.map((one) => [keyOf(one), one])).values()]
  const answered = await Promise.all(
    asked.map((one) => answerRequest(one, { answer: said, by: person.name, lasts, ofRule, message }, context.clock)),
  )
  return {
    data: { answered },
    text: answered
      .map((one) => {
        const what = ofRule ? `every call of the rule ${one.rule_id}` : `this call of ${one.tool_name}`
        return `${said === 'allow' ? 'Allowed' : 'Denied'} ${one.id}: ${what}, ${lastsText(lasts)}`
      })
      .join('\n'),
  }
}

function lastsOf({ once, for: ms, run }: AnswerFlags): Lasts | undefined {
  const given: Lasts[] = [
    ...(once === true ? [{ kind: 'once' } as const] : []),
    ...(ms === undefined ? [] : [{ kind: 'for', ms } as const]),
    ...(run === true ? [{ kind: 'run' } as const] : []),
  ]
  if (given.length > 1) throw usageError('give only one of --once, --for and --run')
  return given[0]
}

function lastsText(lasts: Lasts): string {
  return lasts.kind === 'once' ? 'once' : lasts.kind === 'run' ? 'for the whole run' : `for ${lasts.ms / 1_000} s`
}

/** A shorter prefix could match a request that an agent has made to match it. */
const PREFIX_MIN = 4

/** The request with this id, or the only one whose id starts with it; open requests come first. */
function withId(id: string, all: readonly AskedIn[]): AskedIn {
  const matches = all.filter(
    ({ request }) => request.id === id || (id.length >= PREFIX_MIN && request.id.startsWith(id)),
  )
  const open = matches.filter(({ request }) => isOpen(request))
  const [found, ...more] = open.length > 0 ? open : matches
  if (found === undefined)
    throw new HeimdallError('APPROVAL_NOT_FOUND', `no waiting call has the id ${id}`, {
      hint: 'heimdall approve lists the calls that wait',
    })
  if (more.length > 0)
    throw usageError(
      `${id} matches several waiting calls: ${[found, ...more].map(({ request }) => `${request.id} (${request.tool_name})`).join(', ')}`,
      'give more characters of the id',
    )
  return found
}

const isLost = (runDir: string): boolean => factsOf({ runDir, changedMs: 0, bytes: 0 }).state === 'lost'
