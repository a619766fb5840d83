// The process of a task: runs the agent, reads its stream, stops it at the budget or the deadline, and leaves one result.
import { appendFileSync, rmSync } from 'node:fs'
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'
import { HeimdallError } from '../../errors.ts'
import { blockedBy } from '../blocked.ts'
import { writePrivate } from '../json-file.ts'
import type { Stopped } from '../../coordination/dispatched.ts'
import { resultOf, type TaskResult, type Usage } from '../messages.ts'
import { tokensIn } from '../more-tokens.ts'
import { AgentProcess } from './agent-process.ts'
import { FrameLines } from './runtime-lines.ts'
import {
  briefPath,
  framesPath,
  initPath,
  type Order,
  readOrder,
  resultPath,
  schemaPath,
  dropOutcome,
  writeOutcome,
} from './order.ts'
import { faultOf, measured, resultOfFile, resultOfTurn } from './turn-result.ts'
import {
  type Denial,
  type RuntimeInit,
  RUNTIMES,
  type StreamingRuntime,
  type RuntimeTurn,
  type TurnEnd,
} from './runtime.ts'
import { spillReply } from './spilled-reply.ts'
import { untilMore } from './stopped.ts'
import { sumUsage } from './usage-sum.ts'

export interface RunOrderWith {
  readonly env: Env
  readonly clock: Clock
  /** The terminal of the session. */
  readonly say: (text: string) => void
  /** What is typed there. */
  readonly lines: (signal: AbortSignal) => AsyncIterable<string>
}

/** Returns the exit code of the process: 0 when it was done; a command that failed is shown with its own everywhere. */
export async function runOrder(dir: string, how: RunOrderWith): Promise<number> {
  const order = readOrder(dir)
  if (order === undefined) throw new HeimdallError('DISPATCH_INVALID', `${dir} has no order`)
  const { result, code } =
    order.runtime === 'command'
      ? await runCommand(dir, order, how)
      : { result: await runStreaming(dir, order, RUNTIMES[order.runtime], how), code: 0 }
  writeOutcome(dir, spillReply(dir, result))
  if (result.status === 'done') return 0
  return code === 0 ? 1 : code
}

async function runCommand(
  dir: string,
  order: Order,
  how: RunOrderWith,
): Promise<{ readonly result: TaskResult; readonly code: number }> {
  const file = resultPath(dir)
  rmSync(file, { force: true })
  const agent = startAgent(dir, order, order.command, 'inherit', how)
  const exit = await agent.exit
  if ('fault' in exit) return { result: notStarted(order, exit.fault), code: 1 }
  if (agent.why !== undefined) return { result: late(order, {}), code: 1 }
  return { result: await resultOfFile(order, file, exit.code), code: exit.code }
}

function startAgent(
  dir: string,
  order: Order,
  argv: readonly string[],
  stdio: 'inherit' | ['pipe', 'pipe', 'inherit'],
  { env, clock }: RunOrderWith,
): AgentProcess {
  const agent = new AgentProcess(argv, { env: { ...env, ...variables(dir, order) }, stdio, from: order.from, clock })
  if (order.deadlineMs !== null) agent.endAt(order.deadlineMs)
  return agent
}

const variables = (dir: string, order: Order): Record<string, string> => ({
  HEIMDALL_TASK_ID: order.taskId,
  HEIMDALL_BRIEF_FILE: briefPath(dir),
  HEIMDALL_RESULT_FILE: resultPath(dir),
  ...(order.tokenBudget === null ? {} : { HEIMDALL_TOKEN_BUDGET: String(order.tokenBudget) }),
  // The name that programs of OpenTelemetry look for.
  ...(order.trace === null ? {} : { TRACEPARENT: order.trace }),
})

/** Turns of one conversation, until one of them is the last: each that was stopped may be let go on. */
async function runStreaming(
  dir: string,
  given: Order,
  runtime: StreamingRuntime,
  how: RunOrderWith,
): Promise<TaskResult> {
  let order = given
  const { conversation } = given
  const first =
    conversation === null
      ? runtime.argv(order, schemaPath(dir))
      : runtime.again(order, conversation.session, schemaPath(dir))
  let pass = await onePass(dir, order, runtime, first, order.prompt, NOTHING, how)
  while (pass.stopped !== undefined && pass.session !== null && order.resumeMs !== null) {
    // Whoever is killed while it waits has this much to show.
    writeOutcome(dir, spillReply(dir, pass.result))
    const said = await untilMore(dir, order, pass.result, pass.stopped, how)
    if (said === undefined) break
    // From here on it says less than what was spent.
    dropOutcome(dir)
    const tokens = tokensIn(said)
    if (tokens !== undefined && order.tokenBudget !== null)
      order = withBudget(order, Math.max(order.tokenBudget, pass.used.spent) + tokens)
    const words = tokens === undefined ? said : `You may take ${tokens} more tokens. Go on where you were stopped.`
    const argv = runtime.again(order, pass.session, schemaPath(dir))
    pass = await onePass(dir, order, runtime, argv, words, pass.used, how)
  }
  return pass.result
}

const withBudget = (order: Order, tokenBudget: number): Order => ({ ...order, tokenBudget })

/** What earlier turns of the conversation took. */
interface Used {
  readonly usage: Usage | undefined
  readonly spent: number
  readonly turns: number
  readonly toolCalls: number
  readonly denied: readonly Denial[]
}

const NOTHING: Used = { usage: undefined, spent: 0, turns: 0, toolCalls: 0, denied: [] }

/** A turn, with all that the conversation took until its end. */
type Told = Turned & { readonly used: Used; readonly isFirst: boolean }

interface Pass {
  readonly result: TaskResult
  readonly used: Used
  readonly session: string | null
  /** It was stopped and could go on, with this. */
  readonly stopped?: Stopped['needs'] | undefined
}

/** One turn, and one more where its reply does not fit. */
async function onePass(
  dir: string,
  order: Order,
  runtime: StreamingRuntime,
  argv: readonly string[],
  prompt: string,
  before: Used,
  how: RunOrderWith,
): Promise<Pass> {
  const turned = async (words: readonly string[], text: string, used: Used): Promise<Told> => {
    const one = await oneTurn(
      dir,
      order,
      words,
      text,
      runtime.turn(used.usage ?? order.conversation?.usage),
      used.spent,
      how,
    )
    const usage = used.usage === undefined ? one.turn.usage() : sumUsage(used.usage, one.turn.usage())
    const isFirst = used.usage === undefined
    return {
      ...one,
      isFirst,
      used: {
        usage,
        spent: used.spent + one.turn.spent(),
        turns: used.turns + one.turn.counts().turns,
        toolCalls: used.toolCalls + one.turn.counts().toolCalls,
        denied: [...used.denied, ...(one.turn.end()?.denied ?? [])],
      },
    }
  }
  const passOf = (one: Told, fault?: string): Pass => {
    const { used, turn, isFirst } = one
    const counts = { turns: used.turns, tool_calls: used.toolCalls }
    const usage = { ...(used.usage ?? turn.usage()), ...counts }
    const session = turn.session()
    if ('result' in one)
      return {
        result: isFirst
          ? { ...one.result, ...(one.result.usage === undefined ? {} : { usage: { ...one.result.usage, ...counts } }) }
          : { ...one.result, ...measured(usage, used.spent) },
        used,
        session,
        stopped: one.why === 'budget' ? 'tokens' : undefined,
      }
    const stopped = one.end.stoppedBy === null ? undefined : stopOf(order, used.spent)
    return { result: resultOfTurn(order, one.end, { ...used, usage }, fault), used, session, stopped }
  }
  const first = await turned(argv, prompt, before)
  if ('result' in first) return passOf(first)
  const fault = await faultOf(order, first.end)
  const { session, isError, stoppedBy } = first.end
  if (fault === undefined || isError || stoppedBy !== null || session === null) return passOf(first, fault)
  // One more turn, and no third.
  how.say(`the reply does not fit: ${fault}; asked once more\n`)
  const words = `Your last reply does not fit what was asked for: ${fault}. Reply again, with the JSON alone.`
  const again = await turned(runtime.again(order, session, schemaPath(dir)), words, first.used)
  return passOf(again, 'end' in again ? await faultOf(order, again.end) : undefined)
}

/** By its own bound: with tokens left, words are enough. */
const stopOf = ({ tokenBudget }: Order, spent: number): Stopped['needs'] =>
  tokenBudget !== null && spent >= tokenBudget ? 'tokens' : 'words'

type Turned =
  | { readonly turn: RuntimeTurn; readonly end: TurnEnd }
  | { readonly turn: RuntimeTurn; readonly result: TaskResult; readonly why?: AgentProcess['why'] }

async function oneTurn(
  dir: string,
  order: Order,
  argv: readonly string[],
  prompt: string,
  turn: RuntimeTurn,
  before: number,
  how: RunOrderWith,
): Promise<Turned> {
  const agent = startAgent(dir, order, argv, ['pipe', 'pipe', 'inherit'], how)
  const { stdin, stdout } = agent.child
  const lines = new FrameLines()
  let init: RuntimeInit | undefined
  let lacking: readonly string[] = []
  stdout?.on('data', (chunk: Buffer) => {
    appendFileSync(framesPath(dir), chunk, { mode: 0o600 })
    for (const frame of lines.push(chunk)) {
      turn.frame(frame)
      const line = turn.line(frame)
      if (line !== undefined && line !== '') how.say(`${line}\n`)
      if (init === undefined && turn.init() !== undefined) {
        init = turn.init()
        writePrivate(initPath(dir), JSON.stringify(init))
        lacking = notReached(order, init)
        // Before the first word to the model: nothing is spent yet.
        if (lacking.length > 0) agent.end('servers')
      }
      const isOver = order.tokenBudget !== null && before + turn.spent() >= order.tokenBudget
      if (isOver && turn.end() === undefined) agent.end('budget')
    }
  })
  // It may end without reading what it is told.
  stdin?.on('error', () => undefined)
  stdin?.end(prompt)
  const exit = await agent.exit
  if ('fault' in exit) return { turn, result: notStarted(order, exit.fault) }
  const about = measured(turn.usage(), turn.spent())
  const end = turn.end()
  // One that called a tool before it was ended may have had effects: no other worker gets it for that.
  if (agent.why === 'servers' && turn.counts().toolCalls === 0)
    return { turn, result: withoutServers(order, about, lacking) }
  if (agent.why === 'budget') return { turn, result: atBudget(order, about), why: 'budget' }
  if (agent.why === 'deadline') return { turn, result: late(order, about) }
  if (end !== undefined) return { turn, end }
  return {
    turn,
    result: resultOf({
      ...about,
      ...of(order),
      status: 'error',
      error: {
        summary: `${argv[0] ?? ''} ended with ${exit.code} and without a final frame`,
        code: `exit_${exit.code}`,
        phase: 'run',
      },
    }),
  }
}

const of = ({ taskId, attempt }: Order): Pick<TaskResult, 'task_id' | 'attempt'> => ({ task_id: taskId, attempt })

/** Required servers that the runtime says it has not; one that is still on its way may come. */
function notReached({ requiredMcp }: Order, init: RuntimeInit | undefined): string[] {
  const reached = new Set(
    init?.servers.filter(({ status }) => status === 'connected' || status === 'pending').map(({ name }) => name),
  )
  return requiredMcp.filter((name) => !reached.has(name))
}

const withoutServers = (order: Order, about: Partial<TaskResult>, missing: readonly string[]): TaskResult =>
  resultOf({
    ...about,
    ...of(order),
    status: 'blocked',
    blocked_reason: `the runtime itself does not reach ${missing.join(', ')}`,
    blocked: blockedBy('mcp_unavailable', missing),
    source: 'runtime',
  })

const atBudget = (order: Order, about: Partial<TaskResult>): TaskResult =>
  resultOf({
    ...about,
    ...of(order),
    status: 'partial',
    remaining: [`stopped at its budget of ${order.tokenBudget} tokens`],
    source: 'runtime',
  })

const late = (order: Order, about: Partial<TaskResult>): TaskResult =>
  resultOf({ ...about, ...of(order), status: 'partial', remaining: ['ended at its deadline'] })

const notStarted = (order: Order, fault: string): TaskResult =>
  resultOf({
    ...of(order),
    status: 'error',
    tokens_spent: 0,
    usage: { source: 'runtime' },
    error: {
      summary: `${order.command[0] ?? ''} cannot be started: ${fault}`,
      code: 'command_not_started',
      phase: 'start',
      side_effects: 'none',
    },
  })
