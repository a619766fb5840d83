// The process of a task: runs the agent, reads its stream, stops it at the budget or the deadline, and leaves one result.
import { appendFileSync, rmSync } from 'node:fs'
import type { Clock } from '../../clock.ts'
import type { Env } from '../../paths.ts'
import { HeimdallError } from '../../errors.ts'
import { blockedBy } from '../blocked.ts'
import { writePrivate } from '../json-file.ts'
import { resultOf, type TaskResult } from '../messages.ts'
import { AgentProcess } from './agent-process.ts'
import { FrameLines } from './frames.ts'
import {
  briefPath,
  framesPath,
  initPath,
  type Order,
  readOrder,
  resultPath,
  schemaPath,
  writeOutcome,
} from './order.ts'
import { faultOf, measured, resultOfFile, resultOfTurn } from './reply.ts'
import { type RuntimeInit, RUNTIMES, type StreamingRuntime, type Turn, type TurnEnd } from './runtime.ts'
import { spillReply } from './spilled-reply.ts'
import { sumUsage } from './usage-sum.ts'

export interface RunOrderWith {
  readonly env: Env
  readonly clock: Clock
  /** The terminal of the session. */
  readonly say: (text: string) => void
}

/** Returns the exit code of the process: 0 when a result was left. */
export async function runOrder(dir: string, how: RunOrderWith): Promise<number> {
  const order = readOrder(dir)
  if (order === undefined) throw new HeimdallError('DISPATCH_INVALID', `${dir} has no order`)
  const result = await (order.runtime === 'command'
    ? runCommand(dir, order, how)
    : runStreaming(dir, order, RUNTIMES[order.runtime], how))
  writeOutcome(dir, spillReply(dir, result))
  return result.status === 'done' ? 0 : 1
}

async function runCommand(dir: string, order: Order, how: RunOrderWith): Promise<TaskResult> {
  const file = resultPath(dir)
  rmSync(file, { force: true })
  const agent = startAgent(dir, order, order.command, 'inherit', how)
  const exit = await agent.exit
  if ('fault' in exit) return notStarted(order, exit.fault)
  if (agent.why !== undefined) return late(order, {})
  return await resultOfFile(order, file, exit.code)
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

async function runStreaming(
  dir: string,
  order: Order,
  runtime: StreamingRuntime,
  how: RunOrderWith,
): Promise<TaskResult> {
  const first = await oneTurn(dir, order, runtime.argv(order, schemaPath(dir)), order.prompt, runtime.turn(), 0, how)
  if ('result' in first) return first.result
  const fault = await faultOf(order, first.end)
  const { session, isError, stoppedBy } = first.end
  const used = first.turn.usage()
  if (fault === undefined || isError || stoppedBy !== null || session === null)
    return resultOfTurn(order, first.end, used, first.turn.spent(), fault)
  // One more turn, and no third.
  how.say(`the reply does not fit: ${fault}; asked once more\n`)
  const words = `Your last reply does not fit what was asked for: ${fault}. Reply again, with the JSON alone.`
  const again = await oneTurn(
    dir,
    order,
    runtime.again(order, session, schemaPath(dir)),
    words,
    runtime.turn(used),
    first.turn.spent(),
    how,
  )
  const spent = first.turn.spent() + again.turn.spent()
  const usage = sumUsage(used, again.turn.usage())
  if ('result' in again) return { ...again.result, ...measured(usage, spent) }
  return resultOfTurn(order, again.end, usage, spent, await faultOf(order, again.end))
}

type Turned = { readonly turn: Turn; readonly end: TurnEnd } | { readonly turn: Turn; readonly result: TaskResult }

async function oneTurn(
  dir: string,
  order: Order,
  argv: readonly string[],
  prompt: string,
  turn: Turn,
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
  if (agent.why === 'servers') return { turn, result: withoutServers(order, about, lacking) }
  if (agent.why === 'budget') return { turn, result: atBudget(order, about) }
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
