// heimdall worker announce: what workers announce of themselves at this moment.
import { peersOf } from '../../../dispatch/a2a/start-orchestrator.ts'
import { takeAnnounce } from '../../../dispatch/workers.ts'
import { HeimdallError } from '../../../errors.ts'
import { escapeText, printable } from '../../../ids.ts'
import { didYouMean } from '../../../suggest.ts'
import type { Run } from '../../command.ts'
import { withRoom } from '../../coordination-door.ts'
import { knownPeers } from '../dispatch/known-peers.ts'
import type { workerAnnounce } from '../../table/dispatch.ts'

export const run: Run<typeof workerAnnounce> = (context, { args }) =>
  withRoom(context, async (room) => {
    const { peers } = await knownPeers(context, room.project)
    const all = [...peersOf({ room, workers: () => peers('worker'), note: (line) => context.note(escapeText(line)) })()]
    const asked = all.filter(([name]) => args.worker === undefined || name === args.worker)
    if (args.worker !== undefined && asked.length === 0)
      throw new HeimdallError('WORKER_NOT_FOUND', `no worker ${printable(args.worker)} is known here`, {
        hint: didYouMean(
          args.worker,
          all.map(([name]) => name),
          'heimdall peers list shows who is',
        ),
      })
    const said = await Promise.all(
      asked.map(async ([name, { peer, url }]) => {
        const pulled = await peer.pull(new AbortController().signal)
        if (pulled === undefined) return { worker: name, speaks: null, announce: null, why: 'it does not answer' }
        await takeAnnounce(room, { name, url, speaks: pulled.speaks }, pulled.announce)
        return { worker: name, speaks: pulled.speaks, announce: pulled.announce, why: null }
      }),
    )
    const lines = said.map(({ worker, announce, why }) =>
      announce === null
        ? `${worker}: ${why}`
        : `${worker}: ${announce.state}, ${announce.session.active_tasks} of ${announce.max_concurrent} tasks, ${Object.entries(
            announce.mcp_health,
          )
            .map(([name, state]) => `${name} ${state}`)
            .join(', ')}`,
    )
    return { data: said, text: lines.length === 0 ? 'no worker is known' : escapeText(lines.join('\n')) }
  })
