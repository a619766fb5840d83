// heimdall worker drain: let a worker take no more tasks.
import { changeAsOther } from '../../../coordination/change.ts'
import { drainSetting } from '../../../dispatch/worker/drain-setting.ts'
import { HeimdallError } from '../../../errors.ts'
import { printable } from '../../../ids.ts'
import { didYouMean } from '../../../suggest.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { knownPeers } from '../dispatch/known-peers.ts'
import type { workerDrain } from '../../table/dispatch.ts'

export const run: Run<typeof workerDrain> = (context, { args }) =>
  withRoom(context, async (room) => {
    const { peers } = await knownPeers(context, room.project)
    if (!peers('worker').some(({ name, origin }) => name === args.worker && origin !== 'settings'))
      throw new HeimdallError('WORKER_NOT_FOUND', `no worker ${printable(args.worker)} runs here`, {
        hint: didYouMean(
          args.worker,
          peers('worker').map(({ name }) => name),
          'heimdall peers list shows who does',
        ),
      })
    await changeAsOther(room, { kind: 'system' }, ({ rows, now }) =>
      rows.putSetting(drainSetting(args.worker), String(now.wallMs)),
    )
    return { data: { worker: args.worker, state: 'draining' }, text: `${args.worker} takes no more tasks` }
  })
