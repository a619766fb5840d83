// One claim of 250 long scopes came as one item of 25,000 tokens, whatever the reader's budget, with all that was hidden in it.
import { expect, test } from 'vitest'
import { join } from '../mcp/session.ts'
import { temporaryProject } from '../support/project.ts'

const HIDDEN = /[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]/u

test('the scopes of others are cut, counted and cleaned wherever they are shown', async () => {
  const project = temporaryProject()
  const [cursor, copilot] = [await join(project, 'cursor'), await join(project, 'copilot')]
  const surfaces = Array.from({ length: 250 }, (_, i) => `src/${'a-long-name/'.repeat(35)}${i}`)
  const hidden = 'src/\u202e\u{e0152}\u{e0100}x'
  const made = await cursor.call('make_claim', { surfaces: [hidden, ...surfaces], task: 'T-1' })
  expect(made.data).toMatchObject({ result: 'claimed 251 surface(s) for 90 min', more_surfaces: 227 })
  const read = await copilot.call('read_claims', { max_tokens: 500 })
  const [claim] = read.data['active_claims'] as { claimed_surfaces: string[]; more_surfaces: number }[]
  expect(claim).toMatchObject({ more_surfaces: 227 })
  expect(claim?.claimed_surfaces).toHaveLength(24)
  const refused = await copilot.call('make_claim', { surfaces: ['src/**'], task: 'T-2' })
  const checked = await copilot.call('check_claim', { surfaces: [`${surfaces[249]}`] })
  expect([refused.isError, checked.data['clear']]).toEqual([true, false])
  for (const { data } of [read, refused, checked]) {
    expect(JSON.stringify(data).length).toBeLessThan(8_000)
    expect(JSON.stringify(data)).not.toMatch(HIDDEN)
  }
})
