// Signing in: a browser brings the proof of a one-time link once; from then on it and the hub prove themselves to each other, and the browser gets a pass.
import type { Context, Hono } from 'hono'
import { HeimdallError } from '../../errors.ts'
import { helloRequest, loginRequest, type PassReply, passRequest } from '../contract.ts'
import { passIn } from '../door/http-door.ts'
import type { Visitors } from '../door/visitors.ts'
import { bodyOf, queryOf } from './body.ts'

export function loginRoutes(app: Hono, visitors: Visitors): void {
  app.post('/api/login', async (c) => {
    const reply = visitors.admit(await bodyOf(c, loginRequest), hostOf(c))
    if (reply === undefined)
      throw new HeimdallError('HUB_LINK_SPENT', 'this link was used already, is too old, or is for another address', {
        hint: 'heimdall open prints a new one',
      })
    return c.json(reply)
  })
  app.get('/api/hello', (c) => {
    const reply = visitors.hello(queryOf(c, helloRequest).nonce, hostOf(c))
    if (reply === undefined) throw new HeimdallError('HUB_NOT_RUNNING', 'the hub is stopping')
    return c.json(reply)
  })
  app.post('/api/pass', async (c) => {
    const pass = visitors.pass(await bodyOf(c, passRequest), hostOf(c))
    if (pass === undefined)
      throw new HeimdallError('HUB_TOKEN_REQUIRED', 'this browser is not signed in', {
        hint: 'heimdall open prints a link',
      })
    return c.json({ pass } satisfies PassReply)
  })
  app.post('/api/logout', (c) => {
    visitors.forget(passIn({ headers: c.req.header(), url: c.req.url }) ?? '')
    return c.json({ done: true })
  })
}

/** As the browser has it in its address bar. The gate has checked that it is a name of the hub. */
const hostOf = (c: Context): string => (c.req.header('host') ?? '').toLowerCase()
