// What a person does: each goes to the acts of the project. Whether it may be done at all, the gate has decided.
import type { Context, Hono } from 'hono'
import {
  type ActReply,
  answerRequest,
  approvalRequest,
  dispatchRequest,
  inputRequest,
  snoozeRequest,
  noteRequest,
  pinRequest,
  taskAnswerRequest,
} from '../contract.ts'
import type { ApiDesk } from './api.ts'
import { bodyOf } from './body.ts'

export function actRoutes(app: Hono, { shown, picture, person, nowIso }: ApiDesk): void {
  const done = async (c: Context, act: Promise<ActReply>): Promise<Response> => c.json<ActReply>(await act)
  app.post('/api/waits/:wait/answer', async (c) => {
    const request = await bodyOf(c, answerRequest)
    return done(c, shown(c).acts.answer(await picture(c), c.req.param('wait'), request))
  })
  app.post('/api/waits/:wait/snooze', async (c) =>
    done(c, shown(c).acts.snooze(c.req.param('wait'), (await bodyOf(c, snoozeRequest)).minutes)),
  )
  app.post('/api/notes', async (c) => done(c, shown(c).acts.sendNote(await bodyOf(c, noteRequest))))
  app.post('/api/notes/:note/seen', (c) => done(c, shown(c).acts.seen(c.req.param('note'))))
  app.post('/api/notes/:note/ack', (c) => done(c, shown(c).acts.acknowledge(c.req.param('note'))))
  app.post('/api/agents/:agent/input', async (c) => {
    const { text, keys } = await bodyOf(c, inputRequest)
    return done(c, shown(c).acts.type(await picture(c), c.req.param('agent'), text, keys))
  })
  app.post('/api/agents/:agent/end', async (c) => done(c, shown(c).acts.end(await picture(c), c.req.param('agent'))))
  app.post('/api/approvals/:approval', async (c) => {
    const { answer, lasts, of_rule: ofRule } = await bodyOf(c, approvalRequest)
    return done(c, shown(c).acts.approve(c.req.param('approval'), answer, { kind: lasts }, ofRule))
  })
  app.post('/api/pins', async (c) => {
    const { server, tool, hash } = await bodyOf(c, pinRequest)
    return done(c, shown(c).acts.approvePin(server, tool, hash))
  })
  const told = async (c: Context, act: Promise<string>): Promise<Response> =>
    c.json<ActReply>({
      done: true,
      outcome: 'recorded',
      text: await act,
      by: { kind: 'human', name: person },
      at: nowIso(),
    })
  app.post('/api/tasks', async (c) => told(c, shown(c).tasks.send(await bodyOf(c, dispatchRequest))))
  app.post('/api/tasks/:task/answer', async (c) =>
    told(c, shown(c).tasks.answer(c.req.param('task'), (await bodyOf(c, taskAnswerRequest)).text)),
  )
  app.post('/api/tasks/:task/cancel', (c) => told(c, shown(c).tasks.cancel(c.req.param('task'))))
  app.post('/api/tasks/:task/retry', (c) => told(c, shown(c).tasks.retry(c.req.param('task'))))
  app.post('/api/workers/:worker/drain', (c) => told(c, shown(c).tasks.drain(c.req.param('worker'))))
}
