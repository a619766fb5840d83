// What a shim writes and reads while another process holds the lock of a record.
import fs from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { EventText } from '../../src/events/event-text.ts'
import type { RunIdentity } from '../../src/events/types.ts'
import { openRequests } from '../../src/runs/questions.ts'
import { recordPath, RunLog } from '../../src/runs/run-log.ts'
import { SoloQuestions } from '../../src/runs/solo-questions.ts'
import { tryLock, unlock } from '../../src/storage/kernel-lock.ts'
import { temporaryFolder } from '../support/project.ts'

const SOURCE = { host_id: 'h', proc_id: 'p', shim_id: 's' }
const IDENTITY: RunIdentity = { run_id: 'r', agent_id: 'a', client: 'custom', env: 'dev', source: SOURCE }
const NAMES = { call_id: 'c', server_name: 's', tool_name: 'write', args_hash: 'f' }

/** Holds the lock as another process would; returns what releases it. */
function lock(runDir: string): () => void {
  const fd = fs.openSync(recordPath(runDir), 'r+')
  onTestFinished(() => fs.closeSync(fd))
  expect(tryLock(fd)).toBe(true)
  return () => unlock(fd)
}

const text = (): EventText => new EventText(IDENTITY, () => 0)
const asked = (id: string): Parameters<SoloQuestions['publish']>[0] => {
  const put = { id, rule_id: 'ask', rule_hash: 'h', question: '?', wait_ms: 0, args_hash: 'f', args_preview: '{}' }
  return text().approvalRequested(NAMES, put)
}

function soloQuestions(): { readonly solo: SoloQuestions; readonly folder: string } {
  const folder = join(temporaryFolder(), 'solo')
  const solo = new SoloQuestions(folder, 's')
  onTestFinished(() => solo.close())
  solo.publish(asked('first'))
  return { solo, folder }
}

test('a question of a shim alone is recorded as soon as the lock is free', () => {
  const { solo, folder } = soloQuestions()
  const release = lock(folder)
  solo.publish(asked('second'))
  expect(fs.readFileSync(recordPath(folder), 'utf8')).not.toContain('"second"')
  release()
  solo.news()
  expect(openRequests(folder).map(({ id }) => id)).toEqual(['first', 'second'])
})

test('an answer to a shim alone is news also where the next question was recorded before it was read', () => {
  const { solo, folder } = soloQuestions()
  expect(solo.news()).toEqual([])
  const human = new RunLog(folder)
  onTestFinished(() => human.close())
  human.locked(() => {
    const given = text()
    const about = { id: 'first', rule_id: 'ask', rule_hash: 'h', args_hash: 'f' }
    given.approvalDecided({ ...about, answer: 'allow', decided_by: 'p', lasts: 'once', scope: 'call' })
    human.append(given.lines)
  })
  solo.publish(asked('second'))
  expect(solo.news()).toMatchObject([{ id: 'first', answer: 'allow' }])
  expect(solo.news()).toEqual([])
})
