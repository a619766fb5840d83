// heimdall peers check: ask each peer for its card, and say what it speaks.
import { A2aPeer } from '../../../dispatch/a2a/a2a-peer.ts'
import { EXIT, HeimdallError } from '../../../errors.ts'
import { escapeText, printable } from '../../../ids.ts'
import { findProject } from '../../../paths.ts'
import { didYouMean } from '../../../suggest.ts'
import type { Run } from '../../command.ts'
import { renderTable } from '../../render/style.ts'
import { knownPeers } from '../dispatch/known-peers.ts'
import type { peersCheck } from '../../table/dispatch.ts'

export const run: Run<typeof peersCheck> = async (context, { args }) => {
  const { peers } = await knownPeers(context, findProject(context.cwd, context.env))
  const known = [...peers('worker'), ...peers('orchestrator')]
  const all = known.filter(({ name }) => args.peer === undefined || name === args.peer)
  if (args.peer !== undefined && all.length === 0)
    throw new HeimdallError('PEER_NOT_FOUND', `no peer ${printable(args.peer)} is known here`, {
      hint: didYouMean(
        args.peer,
        known.map(({ name }) => name),
        'heimdall peers list shows who is',
      ),
    })
  const found = await Promise.all(
    all.map(async ({ name, url, token }) => {
      const peer = new A2aPeer({
        name,
        url,
        token,
        clock: context.clock,
        note: (line) => context.note(escapeText(line)),
      })
      const { protocol, isExtended, why } = await peer.check(new AbortController().signal)
      return {
        name,
        url,
        reachable: why === undefined,
        protocol: protocol ?? null,
        extension: isExtended ?? false,
        why: why ?? null,
      }
    }),
  )
  const rows = found.map((one) => [
    one.name,
    one.url,
    one.reachable ? `A2A ${one.protocol}` : 'not reached',
    one.why ?? (one.extension ? 'with the extension' : 'plain'),
  ])
  return {
    data: found,
    text: rows.length === 0 ? 'no peer is known' : renderTable(context.style, ['PEER', 'URL', 'SPEAKS', ''], rows),
    ...(found.some(({ reachable }) => !reachable) ? { exit: EXIT.unavailable } : {}),
  }
}
