// An agent that waits for a person, as its host's hooks tell: said to its session, or put into the run's own record where there is none.
import { loadConfig } from '../../config.ts'
import { isWaiting, markWait, takeWait } from '../../coordination/trail.ts'
import { pidOf } from '../../coordination/who/process-ref.ts'
import { createIdSource } from '../../id-source.ts'
import { HOOK_QUESTION_CHARS_MAX } from '../../limits.ts'
import { sessionsDir } from '../../paths.ts'
import { NO_POLICY_NAMES } from '../../policy/bundle/no-policy.ts'
import type { WaitStart } from '../../runs/owned-run.ts'
import { readIdentity } from '../../runs/run-identity.ts'
import { type RunPart, takePart } from '../../runs/taking-part.ts'
import { KEY_VARIABLE } from '../../session-variables.ts'
import { reportWait, type WaitReport } from '../../sessions/report-wait.ts'
import type { HookRoom } from './hook-room.ts'

/** Beside the trail while it goes on. `is_told`: a session of ours shows it, and the watcher books it. */
type MarkedWait = WaitStart & { readonly is_told?: boolean }

export async function beginWait(hook: HookRoom, question: string): Promise<void> {
  const { room, around, tree } = hook
  if (isWaiting(room.project, tree)) return
  const wait: WaitStart = {
    wait_id: createIdSource(around.clock)(),
    started_at: new Date(around.clock.wallMs()).toISOString(),
    source: 'hook',
    evidence: question.slice(0, HOOK_QUESTION_CHARS_MAX),
  }
  const mark = (marked: MarkedWait): void => markWait(room.project, tree, JSON.stringify(marked))
  const isInSession = around.env[KEY_VARIABLE] !== undefined
  mark(isInSession ? { ...wait, is_told: true } : wait)
  if (await tellSession(hook, { needs_input: true, evidence: wait.evidence ?? '' })) return
  if (isInSession) mark(wait)
  await inRun(hook, (run) => run.say((text) => text.waitStart(wait)))
}

/** The host goes on: whatever was asked is answered. */
export async function endWait(hook: HookRoom, answer: string): Promise<void> {
  const { room, around, tree } = hook
  const marked = takeWait(room.project, tree) as MarkedWait | undefined
  if (marked === undefined) return
  const { is_told: isTold, ...wait } = marked
  if ((await tellSession(hook, { needs_input: false })) || isTold === true) return
  const endedMs = around.clock.wallMs()
  await inRun(hook, (run) =>
    run.say((text) =>
      text.waitEnd({
        ...wait,
        ended_at: new Date(endedMs).toISOString(),
        waited_ms: Math.max(0, endedMs - Date.parse(wait.started_at)),
        answer,
        answered_by: null,
      }),
    ),
  )
}

/** False where the host runs in no session of ours. The watcher books what a session is told. */
async function tellSession({ around, folder }: HookRoom, report: WaitReport): Promise<boolean> {
  const { env } = around
  const key = env[KEY_VARIABLE]
  if (key === undefined) return false
  const { socket_dir: dir } = await loadConfig({ cwd: folder, env })
  return await reportWait(typeof dir.value === 'string' ? dir.value : sessionsDir(env), key, report)
}

/** Takes part in the run of the host session for a moment; it is the run of its shims. */
export async function inRun(hook: HookRoom, act: (run: RunPart) => void): Promise<void> {
  const { around, agent, tree, folder, note, call } = hook
  const { env, clock } = around
  const named = { ...env, SUB_AGENT_ID: env['SUB_AGENT_ID'] ?? agent.agentId, HEIMDALL_HAID: agent.haid }
  const identity = readIdentity({ ...named, SUB_CLIENT: env['SUB_CLIENT'] ?? clientOf(call.host) }, folder, note)
  const config = await loadConfig({ cwd: folder, env })
  const { policy_id, version: policy_version, policy_hash, mode } = NO_POLICY_NAMES
  const run = await takePart({
    env,
    clock,
    identity,
    start: { mode, policy: { policy_id, policy_version, policy_hash } },
    events: null,
    parentPid: tree.startsWith('session ') ? process.ppid : pidOf(tree),
    quietMs: Number(config.run_quiet_seconds.value) * 1_000,
    note,
    onTrouble: (error) => {
      if (error !== null) note(`events cannot be written: ${error.message}`)
    },
  })
  act(run)
  await run.leave('SUCCEEDED')
}

const clientOf = (host: string): string => (host === 'claude' || host === 'codex' ? host : 'custom')
