// What the models of sample agents cost: the recorded transcript of a real Claude Code session, written again as that host writes it, at the time of now. Keepers find and count it like any other.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TemporaryProject } from './project.ts'

const NOW = '@NOW@'

/** Shell lines: a note of its own process, as the host keeps one, and `says`, which writes the whole session once more. */
export function modelOf({ root, home }: TemporaryProject, agent: string, index: number): string[] {
  const session = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const recorded = readFileSync(resolve('test/fixtures/recordings/claude/session.jsonl'), 'utf8')
  const said = recorded
    .split('\n')
    // The sum that ends a session is of one of them.
    .filter((line) => line.includes('"type":"assistant"'))
    .map((line) => line.replace(/"timestamp":"[^"]*"/, `"timestamp":"${NOW}"`))
    .map((line) => line.replace(/"sessionId":"[^"]*"/, `"sessionId":"${session}"`).replaceAll('/work/project', root))
  const folder = join(home, 'agents')
  const place = join(home, '.claude/projects', root.replace(/[^A-Za-z0-9]/g, '-'))
  for (const each of [folder, place, join(home, '.claude/sessions')]) mkdirSync(each, { recursive: true })
  const template = join(folder, `${agent}.said.jsonl`)
  writeFileSync(template, `${said.join('\n')}\n`)
  const again = `-e "s/${NOW}/$(date -u +%FT%T.%3NZ)/" -e "s/msg_/msg_\${said}_/"`
  return [
    `printf '{"sessionId":"${session}"}' > "$HOME/.claude/sessions/$$.json"`,
    `said=0; says() { said=$((said + 1)); sed ${again} '${template}' >> '${join(place, `${session}.jsonl`)}'; }`,
  ]
}

/** A host that ends takes its note along, and then nobody could tell whose transcript that is. */
export const UNTIL_COUNTED = `until grep -qs '"messages":[1-9]' "$HOME/.local/state/heimdall/runs/.kept/"*"$SUB_RUN_ID"*; do sleep 0.2; done`
