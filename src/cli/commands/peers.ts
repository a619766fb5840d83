// heimdall peers: workers and orchestrators that this machine knows, and how they are reached.
import type { PeerEntry } from '../../config.ts'
import type { Coordination } from '../../coordination/coordination.ts'
import { type KnownPeer, type KnownPeers, knownPeers } from '../../dispatch/peers.ts'
import { EXIT, HeimdallError } from '../../errors.ts'
import { escapeText, printable } from '../../ids.ts'
import { findProject, type Project } from '../../paths.ts'
import { didYouMean } from '../../suggest.ts'
import { type Answer, type Command, command, type Context } from '../command.ts'
import { withStoreToRead } from '../coordination-store.ts'
import { renderTable } from '../render/style.ts'

export async function peersFor(context: Context, project: Project): Promise<KnownPeers> {
  const entries = (await context.settings()).peers.value as readonly PeerEntry[]
  return knownPeers(context.env, project, entries, context.cwd)
}

/** Text of workers and peers is part of it. */
export const noteOf = (context: Context) => (line: string) => context.note(escapeText(line))

/** The one of this name, or all. */
export function named<T extends { readonly name: string }>(
  all: readonly T[],
  name: string | undefined,
  what: 'worker' | 'peer',
): readonly T[] {
  const found = all.filter((one) => name === undefined || one.name === name)
  if (name === undefined || found.length > 0) return found
  throw new HeimdallError(
    what === 'worker' ? 'WORKER_NOT_FOUND' : 'PEER_NOT_FOUND',
    `no ${what} ${printable(name)} is known here`,
    {
      hint: didYouMean(
        name,
        all.map((one) => one.name),
        'heimdall peers list shows known workers',
      ),
    },
  )
}

async function allPeers(context: Context): Promise<readonly KnownPeer[]> {
  const { peers } = await peersFor(context, findProject(context.cwd, context.env))
  return [...peers('worker'), ...peers('orchestrator')]
}

async function peerTable(context: Context): Promise<(db: Coordination | undefined) => Answer> {
  const { profileOf, stateAt } = await import('../../dispatch/workers.ts')
  const peers = await allPeers(context)
  return (db) => {
    const data = peers.map(({ name, role, url, origin, token }) => {
      const found = db?.store.read((rows) => {
        const worker = role === 'worker' ? rows.worker(name) : undefined
        return worker === undefined ? undefined : { ...worker, state: stateAt(rows, worker, db.now()) }
      })
      return {
        name,
        role,
        url,
        origin,
        has_token: token() !== undefined,
        state: found?.state ?? null,
        health: found === undefined ? null : (profileOf(found)?.mcp_health ?? null),
      }
    })
    const rows = data.map((one) => [one.name, one.role, one.url, one.origin, one.state ?? '-'])
    const table = renderTable(context.style, ['PEER', 'ROLE', 'URL', 'FROM', 'STATE'], rows)
    return { data, text: rows.length === 0 ? 'no peer is known' : table }
  }
}

async function checked(context: Context, name: string | undefined): Promise<Answer> {
  const { A2aPeer } = await import('../../dispatch/a2a/a2a-peer.ts')
  const { clock } = context
  const data = await Promise.all(
    named(await allPeers(context), name, 'peer').map(async ({ name, url, token }) => {
      const peer = new A2aPeer({ name, url, token, clock, note: noteOf(context) })
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
  const rows = data.map((one) => [
    one.name,
    one.url,
    one.reachable ? `A2A ${one.protocol}` : 'unreachable',
    one.why ?? (one.extension ? 'with the extension' : 'plain'),
  ])
  return {
    data,
    text: rows.length === 0 ? 'no peer is known' : renderTable(context.style, ['PEER', 'URL', 'PROTOCOL', ''], rows),
    ...(data.some(({ reachable }) => !reachable) ? { exit: EXIT.unavailable } : {}),
  }
}

export const commands: readonly Command[] = [
  command({
    names: ['heimdall peers list'],
    summary: 'List known workers and orchestrators with their addresses',
    examples: { 'heimdall peers list': 'lists peers of the settings and of this machine' },
    output: 'array of name, role, url, origin (settings or local), has_token, state and health (as last announced)',
    hidden: true,
    run: async (context) => {
      const table = await peerTable(context)
      return await withStoreToRead(context, table, () => table(undefined))
    },
  }),
  command({
    names: ['heimdall peers check'],
    summary: 'Connect to peers, and show the protocol each one speaks',
    args: [{ name: 'peer', help: 'name of a peer; default: all', optional: true }],
    examples: { 'heimdall peers check': 'connects to every peer with its token' },
    output: 'array of name, url, reachable, protocol (1.0 or 0.3), extension, why (it is unreachable)',
    hidden: true,
    run: (context, { args }) => checked(context, args.peer),
  }),
]
