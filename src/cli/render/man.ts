// The manual page in roff, from the table of commands.
import type { Command } from '../command.ts'
import { exitCodeRows } from './exit-codes.ts'
import { flagLabel, synopsis } from './help.ts'

export function manPage(commands: readonly Command[], about: string, version: string): string {
  const lines = [`.TH HEIMDALL 1 "" "heimdall ${version}"`, '.SH NAME', `heimdall \\- ${roff(about)}`, '.SH COMMANDS']
  for (const { spec } of commands) {
    if (spec.hidden === true) continue
    lines.push(
      `.SS "${roff(spec.names[0])}"`,
      roff(spec.summary) + '.',
      '.PP',
      `.B ${roff(synopsis(spec, spec.names[0]))}`,
    )
    for (const [name, flag] of Object.entries(spec.flags ?? {}))
      lines.push('.TP', `.B ${roff(flagLabel(name, flag))}`, roff(flag.help))
    for (const [run, does] of Object.entries(spec.examples))
      lines.push('.PP', '.nf', `    ${roff(run)}`, '.fi', roff(does))
    if (spec.names.length > 1) lines.push('.PP', `Also: ${roff(spec.names.slice(1).join(', '))}`)
  }
  lines.push('.SH EXIT STATUS')
  for (const [code, meaning] of exitCodeRows()) lines.push('.TP', `.B ${code}`, roff(meaning))
  return lines.join('\n')
}

/** Backslashes, hyphens that must stay ASCII, and control characters at the start of a line. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
}
