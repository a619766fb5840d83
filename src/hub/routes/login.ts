// Coming in and going: a key of a one-time link becomes a cookie and a pass, once.
import type { Hono } from 'hono'
import { HeimdallError } from '../../errors.ts'
import { HUB_VISITOR_IDLE_MS } from '../../limits.ts'
import { type LoginReply, loginRequest } from '../contract.ts'
import { cookieFor, tokenIn } from '../door/cookies.ts'
import type { Visitors } from '../door/visitors.ts'
import { bodyOf } from './body.ts'

export function loginRoutes(app: Hono, visitors: Visitors, port: () => number): void {
  const maxAgeS = HUB_VISITOR_IDLE_MS / 1_000
  app.post('/api/login', async (c) => {
    const { key } = await bodyOf(c, loginRequest)
    const keys = visitors.admit(key)
    if (keys === undefined)
      throw new HeimdallError('HUB_LINK_SPENT', 'this link was used already, or is too old', {
        hint: 'heimdall open prints a new one',
      })
    const isSecure = c.req.header('origin')?.startsWith('https:') === true
    c.header('Set-Cookie', cookieFor(port(), keys.token, maxAgeS, isSecure))
    return c.json({ done: true, pass: keys.pass } satisfies LoginReply)
  })
  app.post('/api/logout', (c) => {
    const token = tokenIn(c.req.header('cookie'), port())
    if (token !== undefined) visitors.forget(token)
    c.header('Set-Cookie', cookieFor(port(), '', 0, false))
    return c.json({ done: true })
  })
}
