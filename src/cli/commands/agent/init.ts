// heimdall agent init, bb-init: a session begins under a name of its own, or takes up a prior one with evidence (seed 002 §3, §7).
import { keysOf } from '../../../coordination/who/key-files.ts'
import { execFile } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import { promisify } from 'node:util'
import { adopt, type AdoptionOptions, findEvidence, recommend, signOfLife } from '../../../coordination/who/adoption.ts'
import { nameToRecord, recordRefusal } from '../../../coordination/who/caller.ts'
import type { Coordination } from '../../../coordination/coordination.ts'
import { findAgent } from '../../../coordination/change.ts'
import { register } from '../../../coordination/who/registration.ts'
import { iso } from '../../../coordination/moment.ts'
import type { ProcessRef } from '../../../coordination/who/process-ref.ts'
import type { Agent } from '../../../coordination/store.ts'
import { HeimdallError, isProgramMissing } from '../../../errors.ts'
import type { Answer, Context, Run } from '../../command.ts'
import type { agentInit } from '../../table/coordination.ts'
import { callerOf, personIn, sessionTree, withRoom } from '../../coordination-door.ts'

export const run: Run<typeof agentInit> = async (context, { flags }) => {
  const inProject = flags['project-root'] === undefined ? context : context.in(context.resolve(flags['project-root']))
  try {
    return await withRoom(inProject, (room) => begin(inProject, room, flags))
  } catch (error) {
    if (!context.isSeedName || !(error instanceof HeimdallError)) throw error
    return failed(error)
  }
}

interface InitFlags {
  readonly adopt: string | undefined
  readonly register: string | undefined
  readonly role: string
  readonly 'non-interactive': boolean | undefined
}

async function begin(context: Context, room: Coordination, flags: InitFlags): Promise<Answer> {
  if (flags.adopt !== undefined && flags.register !== undefined)
    throw new HeimdallError('AMBIGUOUS_SESSION', '--adopt and --register exclude each other')
  if (flags.register !== undefined) {
    const { agent } = await registered(room, flags.register, flags.role, sessionTree(context))
    return begun(room, agent, 'register', { action: 'register', reason: `${agent.agentId} was free` })
  }
  if (flags.adopt !== undefined) return resume(context, room, flags.adopt, flags)
  // Which identity to take cannot be known: nothing is adopted by itself, and a name is offered instead.
  const reason = 'neither --adopt nor --register was given, and no identity is taken up without being named'
  const recommendation = room.store.read((rows) => recommend(rows, reason))
  throw new HeimdallError(
    'AMBIGUOUS_SESSION',
    'name the identity to take: --register NAME for a new one, --adopt ID for a prior one',
    {
      hint: recommendation.command,
      details: { recommendation },
    },
  )
}

/** A taken name is refused with the advice that every refusal here carries. */
async function registered(
  room: Coordination,
  name: string,
  role: string,
  tree: ProcessRef | undefined,
): Promise<{ agent: Agent }> {
  try {
    return await register(room, { name, role, tree }, keysOf(room))
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'DUPLICATE_AGENT_ID') throw error
    const recommendation = room.store.read((rows) => recommend(rows, `${name} is taken`))
    throw new HeimdallError(error.code, error.message, {
      hint: recommendation.command,
      details: { recommendation },
      cause: error,
    })
  }
}

async function resume(context: Context, room: Coordination, name: string, flags: InitFlags): Promise<Answer> {
  const outsideTasks = await beadsInProgress(context, name)
  const tree = sessionTree(context)
  const doubt = doubtOf(room, name, outsideTasks, tree)
  const mayAsk = flags['non-interactive'] !== true && context.stdin.isTTY && context.stderr.isTTY
  const confirmedBy = doubt !== undefined && mayAsk ? await confirm(context, room, name, doubt) : undefined
  const { agent, evidence, tasks } = await adopted(context, room, name, { outsideTasks, confirmedBy, tree })
  return begun(
    room,
    agent,
    'adopt',
    { action: 'adopt', reason: evidence?.summary ?? `confirmed by ${confirmedBy ?? ''}` },
    {
      resume_reason: evidence?.reason ?? 'confirmed_by_human',
      evidence: evidence?.summary ?? null,
      tasks,
    },
  )
}

/** What a person has to answer for, if the identity is to be taken up all the same. */
function doubtOf(
  room: Coordination,
  name: string,
  outsideTasks: readonly string[],
  tree: ProcessRef | undefined,
): string | undefined {
  if (findEvidence(room, name, outsideTasks) === undefined) return `Nothing shows that this session continues ${name}.`
  const sign = room.store.read((rows) => {
    const agent = findAgent(rows, name)
    return agent === undefined ? undefined : signOfLife(room, rows, agent, tree)
  })
  return sign === undefined ? undefined : `${name} may be at work: ${sign}.`
}

/** An attempt on somebody who is alive is on record under the name of whoever made it. */
async function adopted(
  context: Context,
  room: Coordination,
  name: string,
  options: AdoptionOptions,
): ReturnType<typeof adopt> {
  try {
    return await adopt(room, name, { ...options, keys: keysOf(room) })
  } catch (error) {
    if (!(error instanceof HeimdallError) || error.code !== 'ADOPTION_REJECTED') throw error
    const to = room.store.read((rows) => findAgent(rows, name)?.agentId) ?? null
    await recordRefusal(room, error, { by: nameToRecord(callerOf(context, room)), to })
    throw error
  }
}

async function confirm(context: Context, room: Coordination, name: string, doubt: string): Promise<string | undefined> {
  const to = room.store.read((rows) => findAgent(rows, name)?.agentId) ?? null
  const { name: person } = await personIn(context, room, 'adopting without evidence', to)
  const terminal = createInterface({ input: context.stdin, output: context.stderr })
  try {
    const reply = await terminal.question(`${doubt} Adopt it all the same? [y/N] `)
    return /^y(es)?$/i.test(reply.trim()) ? person : undefined
  } finally {
    terminal.close()
  }
}

/** Beads in progress that the agent owns, where the `bd` command exists and answers. */
async function beadsInProgress(context: Context, agent: string): Promise<string[]> {
  let output: string
  try {
    const { stdout } = await promisify(execFile)('bd', ['list', '--status', 'in_progress', '--json'], {
      cwd: context.cwd,
      env: { ...context.env },
      timeout: 5_000,
      maxBuffer: 8 << 20,
    })
    output = stdout
  } catch (error) {
    // No `bd` here: our own tasks are the evidence that is left.
    if (isProgramMissing(error)) return []
    context.note(
      `warning: bd list failed and counts as no evidence: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    )
    return []
  }
  return ownedBeads(output, agent)
}

function ownedBeads(output: string, agent: string): string[] {
  let beads: unknown
  try {
    beads = JSON.parse(output)
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
  if (!Array.isArray(beads)) return []
  return beads.flatMap((bead: unknown) => {
    if (typeof bead !== 'object' || bead === null) return []
    const { id, assignee, owner, status } = bead as Record<string, unknown>
    return typeof id === 'string' && status === 'in_progress' && (assignee === agent || owner === agent) ? [id] : []
  })
}

function begun(
  room: Coordination,
  agent: Agent,
  mode: 'adopt' | 'register',
  recommendation: { readonly action: string; readonly reason: string },
  extra: Record<string, unknown> = {},
): Answer {
  const data = {
    agent_id: agent.agentId,
    haid: agent.haid,
    mode,
    lease: { status: 'active', note: `beat with bb agent heartbeat --agent ${agent.agentId}` },
    session_epoch: agent.runtime.epoch,
    recommendation,
    timestamp: iso(room.clock.wallMs()),
    ...extra,
  }
  return { data, text: `${agent.agentId} (${mode})`, seedJson: { ok: true, ...data } }
}

function failed(error: HeimdallError): Answer {
  const { recommendation, ...details } = error.details ?? {}
  const code = error.code === 'USAGE' || error.code === 'INTERNAL' ? 'INIT_FAILED' : error.code
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return {
    data: null,
    text: '',
    exit: 1,
    seedJson: {
      ok: false,
      error: { code, message: error.message, ...hint, ...details },
      ...(recommendation === undefined ? {} : { recommendation }),
    },
  }
}
