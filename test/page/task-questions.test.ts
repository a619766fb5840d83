// A worker that asks in the middle of a task is answered on the page: on Needs you and on Tasks, and the same task goes on at the worker.
import { chmodSync } from 'node:fs'
import { TaskState } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import type { ConversationReply, TasksReply } from '../../src/hub/contract.ts'
import { Asking } from '../dispatch/asking-peer.ts'
import { stockServer } from '../dispatch/stock-server.ts'
import { spine } from '../spine/spine.ts'
import { startHub } from '../support/sample-fleet.ts'
import { visit } from './look.ts'

test('what the worker of a task asks is answered where it is seen, and the task ends with that', async () => {
  const project = spine()
  const executor = new Asking(TaskState.TASK_STATE_INPUT_REQUIRED, ['which branch?', 'really?'])
  // The worker takes the first answer only after the page has shown a moment in which nothing waits.
  let take = (): void => undefined
  const taken = new Promise<void>((resolve) => (take = resolve))
  const turn = executor.execute
  executor.execute = async (...of) => {
    if (executor.heard.length === 1) await taken
    return turn(...of)
  }
  const { url } = await stockServer('1.0', false, executor)
  const token = project.write('../home/stock.token', 'shown-to-nobody')
  chmodSync(token, 0o600)
  const peer = `[[peers]]\nname = "stock"\nurl = "${url}"\ntoken_file = "${token}"\nrole = "worker"\n`
  project.write('../home/.config/heimdall/heimdall.toml', peer)
  const hub = await startHub(project)
  const visitor = await visit(hub)
  const { page } = visitor

  await visitor.go('#/tasks')
  await page.getByRole('button', { name: /Dispatch a task/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Dispatch a task' })
  await dialog.getByLabel('Title').fill('Merge it')
  await dialog.getByLabel(/What is to be done/).fill('into the right branch')
  // It announces no repository, so tasks of this one go to it only by name.
  await dialog.getByLabel('Worker').fill('stock')
  await dialog.getByRole('button', { name: 'Dispatch', exact: true }).click()

  // Where everything that waits is.
  await visitor.go('#/needs-you')
  const pane = page.locator('.needs-you_wait-pane')
  await pane.getByText('which branch?').waitFor()
  await page.keyboard.press('1')
  await pane.getByPlaceholder('Answer it').fill('main')
  await pane.getByRole('button', { name: 'Send' }).click()
  // The outcome stays visible while nothing waits and no agent is there, and when the next question arrives: nothing
  // takes its place that the next key would answer.
  await pane.getByText(/by .*, recorded as human/).waitFor()
  await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
  await pane.getByText(/by .*, recorded as human/).waitFor()
  take()
  await page.locator('.needs-you_inbox-row', { hasText: 'really?' }).waitFor()
  await pane.getByText(/by .*, recorded as human/).waitFor()
  await pane.getByText('which branch?').waitFor()
  await page.keyboard.press('1')
  expect(await pane.getByPlaceholder('Answer it').count()).toBe(0)
  await page.keyboard.press('j')
  await pane.getByText('really?').waitFor()

  // And beside the task itself.
  await visitor.go('#/tasks')
  const row = page.getByRole('row', { name: /Merge it/ })
  await row.getByText('Needs you').waitFor()
  const asked = page.locator('.task-asks')
  await asked.getByText('really?').waitFor()
  await asked.getByRole('button', { name: 'Answer it' }).click()
  await asked.getByPlaceholder('Answer it').fill('yes')
  await asked.getByRole('button', { name: 'Send' }).click()
  await row.getByText('Done').waitFor()
  expect(executor.heard.slice(1)).toEqual(['main', 'yes'])

  // On record as a person's, in the story of the task.
  const { tasks } = await visitor.get<TasksReply>('/api/tasks')
  const { rows } = await visitor.get<ConversationReply>(`/api/sessions/${tasks[0]?.task_id}/conversation`)
  const answers = rows.filter(({ event_type }) => event_type === 'TASK_ANSWERED')
  expect(answers.map(({ actor_kind }) => actor_kind)).toEqual(['human', 'human'])
  expect(visitor.complaints).toEqual([])
})
