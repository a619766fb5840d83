// heimdall worker start: take dispatched tasks until it is stopped.
import { basename } from 'node:path'
import { type Coordination, openCoordination } from '../../../coordination/coordination.ts'
import { membershipIn } from '../../../coordination/membership.ts'
import { checkHost } from '../../../dispatch/a2a/start-orchestrator.ts'
import { startWorker } from '../../../dispatch/a2a/start-worker.ts'
import { settingsPeers } from '../../../dispatch/peers.ts'
import type { RuntimeName } from '../../../dispatch/runner/order.ts'
import { createExecution } from '../../../dispatch/worker/execution.ts'
import { Learned } from '../../../dispatch/worker/learned.ts'
import type { PeerEntry } from '../../../config.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeText, parseId } from '../../../ids.ts'
import type { Run } from '../../command.ts'
import { knownPeers } from '../dispatch/known-peers.ts'
import { drained } from './drained.ts'
import { executionOf } from './task-execution.ts'
import { profileFrom } from './told-profile.ts'
import type { workerStart } from '../../table/dispatch.ts'
import { changingOptions } from '../../coordination-door.ts'
import { untilSignal } from '../../until-signal.ts'
import { VERSION } from '../../version.ts'

export const run: Run<typeof workerStart> = async (context, { flags, rest }) => {
  const [program] = rest
  if (program === undefined)
    throw new HeimdallError('USAGE', 'no command to run tasks with', {
      hint: 'put it after --: heimdall worker start -- claude',
    })
  if (flags.slots < 1) throw new HeimdallError('USAGE', `${flags.slots} tasks at a time, at least 1 is needed`)
  const runtime = flags.runtime ?? runtimeOf(program)
  const room = openCoordination(await changingOptions(context))
  const workerId = parseId('worker', flags.name ?? nameFor(program, room))
  const { told, over } = untilSignal()
  // Names and reasons in it are those of peers.
  const note = (line: string): void => context.note(escapeText(line))
  try {
    const entries = (await context.settings()).peers.value as readonly PeerEntry[]
    const orchestrators = settingsPeers(entries, 'orchestrator', context.cwd)
    const { dir } = await knownPeers(context, room.project)
    const instanceId = room.newId()
    const learned = new Learned(dir, workerId)
    const worker = await startWorker({
      room,
      dir,
      workerId,
      listen: { host: checkHost(flags.host, flags.open === true), port: flags.port },
      version: VERSION,
      runtime,
      orchestrators: () => orchestrators,
      desk: {
        instanceId,
        maxConcurrent: flags.slots,
        newId: room.newId,
        execution: createExecution(await executionOf(context, flags, room, { runtime, command: rest, dir, learned })),
      },
      profile: (url) =>
        profileFrom(context, flags, room, { runtime, command: rest, workerId, instanceId, learned, url }),
      note,
    })
    context.note(`${workerId} takes tasks at ${worker.url}`)
    if (runtime === 'claude' && !rest.some((word) => PERMISSIONS.test(word)))
      context.note(
        'warning: a worker cannot answer permission prompts, so claude is denied every edit and command that its ' +
          'settings do not allow; add --permission-mode acceptEdits or --allowedTools after claude',
      )
    await told
    over()
    await drained(worker, workerId, note)
    await worker.stop()
    return { data: { worker: workerId, url: worker.url, instance_id: instanceId }, text: '' }
  } finally {
    over()
    room.store.close()
  }
}

/** Flags of Claude Code that say what it may do. */
const PERMISSIONS = /^--(?:permission-|allowed-?tools|dangerously-skip-permissions|settings)/i

/** Two machines of a fleet that run the same program are two workers. */
function nameFor(program: string, { store }: Coordination): string {
  const name = basename(program).replace(/\.\w+$/, '')
  const member = membershipIn(store)
  return member === undefined ? name : `${name}-${member.machine}`
}

function runtimeOf(program: string): RuntimeName {
  const name = basename(program)
  return name === 'claude' || name === 'codex' ? name : 'command'
}
