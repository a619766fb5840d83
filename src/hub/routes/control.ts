// What commands ask of the hub over its unix socket: `heimdall open` and a second `heimdall up`. Only this user can connect; a link is for a human besides.
import { realpathSync } from 'node:fs'
import { Hono } from 'hono'
import { z } from 'zod'
import { HeimdallError } from '../../errors.ts'
import { whoActs } from '../../person.ts'
import { lookUnswayed } from '../../processes.ts'
import { refusedBy } from '../door/reply.ts'
import { bodyOf } from './body.ts'

/** Absolute: the hub's own working directory says nothing about the caller's. */
const FOLDER = z
  .string()
  .max(4_096)
  .refine((path) => path.startsWith('/') && !path.includes('\0'), 'not an absolute path')

export interface ControlOptions {
  readonly hubFile: string
  readonly link: () => string
  /** Adds the project of a folder; says whether it is new. */
  readonly add: (folder: string) => Promise<{ readonly name: string; readonly isNew: boolean }>
  readonly onBug: (error: unknown) => void
}

export function controlRoutes({ hubFile, link, add, onBug }: ControlOptions): Hono {
  const app = new Hono()
  app.onError((error, c) => {
    if (!(error instanceof HeimdallError)) onBug(error)
    const { status, body } = refusedBy(error)
    return c.json(body, status as 400)
  })
  app.post('/control/link', async (c) => {
    const { pid } = await bodyOf(c, z.strictObject({ pid: z.int().positive() }))
    refuseUnlessHuman(pid, hubFile)
    return c.json({ link: link() })
  })
  app.post('/control/projects', async (c) => {
    const { folder } = await bodyOf(c, z.strictObject({ folder: FOLDER }))
    return c.json(await add(folder))
  })
  return app
}

/**
 * An agent of the same user can connect too. Node.js does not tell which process is at the other end of a unix socket,
 * so the caller holds the hub's file open to write while it asks: only that process itself can have opened it.
 */
function refuseUnlessHuman(pid: number, hubFile: string): void {
  if (lookUnswayed().hasOpenToWrite(pid, realpathSync(hubFile)) === false)
    throw new HeimdallError('PERSON_REQUIRED', `process ${pid} did not ask for this link`)
  const acting = whoActs(pid)
  if (!acting.person) throw new HeimdallError('PERSON_REQUIRED', `a link needs a human at a terminal: ${acting.reason}`)
}
