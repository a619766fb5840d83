// For programs on this machine: `heimdall open` and a second `heimdall up`. The gate has seen the secret; who asks for a link is looked at besides.
import { Hono } from 'hono'
import { z } from 'zod'
import { HeimdallError } from '../../errors.ts'
import { whoActs } from '../../person.ts'
import { canTellPeers, peerProcess } from '../door/peer-process.ts'
import { refusedBy } from '../door/reply.ts'
import { bodyOf } from './body.ts'

/** Of whoever asks: the hub's own folder says nothing. */
const FOLDER = z
  .string()
  .max(4_096)
  .refine((path) => path.startsWith('/') && !path.includes('\0'), 'not the whole path of a folder')

export interface ProgramDesk {
  readonly port: () => number
  readonly link: () => string
  /** Takes in the project of a folder; says whether it is new. */
  readonly add: (folder: string) => Promise<{ readonly name: string; readonly isNew: boolean }>
  readonly onBug: (error: unknown) => void
}

/** The port at the other end of the connection that a request came by. */
interface Incoming {
  readonly incoming: { readonly socket: { readonly remotePort?: number } }
}

export function programRoutes(desk: ProgramDesk): Hono<{ Bindings: Incoming }> {
  const app = new Hono<{ Bindings: Incoming }>()
  app.onError((error, c) => {
    if (!(error instanceof HeimdallError)) desk.onBug(error)
    const { status, body } = refusedBy(error)
    return c.json(body, status as 400)
  })
  app.post('/control/link', (c) => {
    refuseUnlessPerson(c.env.incoming.socket.remotePort, desk.port())
    return c.json({ key: desk.link() })
  })
  app.post('/control/projects', async (c) => {
    const { folder } = await bodyOf(c, z.strictObject({ folder: FOLDER }))
    return c.json(await desk.add(folder))
  })
  return app
}

/** An agent that can read the hub's file knows its secret, and is told apart by the process that asks. */
function refuseUnlessPerson(theirs: number | undefined, ours: number): void {
  const pid = theirs === undefined ? undefined : peerProcess({ theirs, ours })
  if (pid === undefined) {
    // Where the system does not tell, the command has looked at itself.
    if (!canTellPeers()) return
    throw new HeimdallError('PERSON_REQUIRED', 'who asks for a link cannot be told')
  }
  const acting = whoActs(pid)
  if (!acting.person)
    throw new HeimdallError('PERSON_REQUIRED', `a link takes a person at a terminal: ${acting.reason}`)
}
