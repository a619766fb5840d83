// Which paths a tool call writes: from the policy's own tags, from what is known of common servers, or from what a server says of its tool.
import { parseArgPath, type Segment } from '../../policy/match/arg-path.ts'
import { pathTextsOf } from '../../policy/match/path-texts.ts'
import { classifyTool } from '../../policy/tool-kind.ts'
import type { Annotations } from '../../policy/types.ts'

type Keys = readonly (readonly Segment[])[]

/** `null`: every text that looks like a path. */
export type WritingTool = { readonly keys: Keys | null }

const keysOf = (...paths: readonly string[]): Keys =>
  paths.map((path) => {
    const segments = parseArgPath(path)
    if (typeof segments === 'string') throw new TypeError(`${path} ${segments}`)
    return segments
  })

/** Tools of servers that many have, by name, and where they say what they write. Read tools of these servers are not in it. */
const KNOWN: Readonly<Record<string, Keys>> = {
  // The reference filesystem server, and those that took its names.
  write_file: keysOf('path', 'file_path'),
  edit_file: keysOf('path', 'file_path'),
  create_file: keysOf('path', 'file_path'),
  create_directory: keysOf('path'),
  move_file: keysOf('source', 'destination'),
  copy_file: keysOf('destination'),
  delete_file: keysOf('path', 'file_path'),
  append_file: keysOf('path'),
  // Desktop Commander.
  edit_block: keysOf('file_path'),
  // Serena.
  create_text_file: keysOf('relative_path'),
  replace_content: keysOf('relative_path'),
  replace_regex: keysOf('relative_path'),
  replace_symbol_body: keysOf('relative_path'),
  insert_after_symbol: keysOf('relative_path'),
  insert_before_symbol: keysOf('relative_path'),
  delete_lines: keysOf('relative_path'),
  replace_lines: keysOf('relative_path'),
  insert_at_line: keysOf('relative_path'),
  // Editors by their tool's name.
  str_replace_editor: keysOf('path'),
  str_replace_based_edit_tool: keysOf('path'),
}

/** Where a tool that its server says to write names a file; the folder that a server works in is not what it writes. */
const USUAL = keysOf('path', 'file_path', 'filePath', 'file', 'filename', 'relative_path', 'target_file', 'destination')

/** Nothing for a tool that is not known to write. */
export function writingTool(
  name: string,
  tags: readonly string[],
  annotations: Annotations | undefined,
): WritingTool | undefined {
  const isTagged = tags.includes('write_like')
  if (!isTagged && tags.includes('read_like')) return undefined
  if (Object.hasOwn(KNOWN, name)) return { keys: KNOWN[name] ?? null }
  // The policy's author says so, and may say where by a rule on paths.
  if (isTagged) return { keys: null }
  if (annotations?.read_only !== false) return undefined
  const { kind } = classifyTool(name, annotations)
  return kind === 'writes' || kind === 'destroys' ? { keys: USUAL } : undefined
}

/** `view` of an editor's tool reads; all its other commands write. */
const READING_COMMANDS: ReadonlySet<unknown> = new Set(['view', 'list', 'read'])

export function writtenTexts({ keys }: WritingTool, args: Readonly<Record<string, unknown>>): readonly string[] {
  if (READING_COMMANDS.has(args['command']) || args['dryRun'] === true || args['dry_run'] === true) return []
  const texts = pathTextsOf(args, keys)
  return typeof texts === 'string' ? [] : texts
}
