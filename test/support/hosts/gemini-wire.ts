// Google's generateContent as Gemini CLI speaks it.
import type { Asked, Part, Reply, Turn } from './script.ts'
import { asText, type ServerEvent } from './sse.ts'

interface GooglePart {
  readonly text?: string
  readonly functionCall?: unknown
  readonly functionResponse?: { readonly response?: Readonly<Record<string, unknown>> }
}

interface Body {
  readonly systemInstruction?: { readonly parts?: unknown }
  readonly contents: readonly { readonly role: string; readonly parts: readonly GooglePart[] }[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
  readonly generationConfig?: { readonly responseMimeType?: string }
}

export function readContents(body: unknown, model: string): Asked {
  const { systemInstruction, contents, tools = [], generationConfig } = body as Body
  return {
    host: 'gemini',
    model,
    instructions: asText(systemInstruction?.parts),
    turns: contents.flatMap(({ role, parts }) => parts.map((part) => turnOf(role, part))),
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    wantsJson: generationConfig?.responseMimeType === 'application/json',
    body,
  }
}

function turnOf(role: string, part: GooglePart): Turn {
  if (part.functionResponse !== undefined) {
    const { response = {} } = part.functionResponse
    return {
      from: 'tool',
      text: Object.values(response).map(asText).join('\n'),
      isError: 'error' in response,
    }
  }
  return { from: role === 'model' ? 'model' : 'user', text: part.text ?? '' }
}

function partOf(part: Part): object {
  if ('text' in part) return part
  return { functionCall: functionOf(part) }
}

function functionOf(part: Exclude<Part, { text: string }>): { name: string; args: object } {
  if ('call' in part) return { name: part.call, args: part.input }
  if ('server' in part) return { name: `mcp_${part.server}_${part.tool}`, args: part.input }
  if ('shell' in part) return { name: 'run_shell_command', args: { command: part.shell, description: 'as asked' } }
  if ('write' in part) return { name: 'write_file', args: { file_path: part.write, content: part.content } }
  return { name: 'invoke_agent', args: { agent_name: 'generalist', prompt: part.subagent } }
}

export function contentEvents({ parts, tokens }: Reply, { model }: Asked, number: number): ServerEvent[] {
  return [
    {
      data: {
        candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: parts.map(partOf) } }],
        modelVersion: model,
        responseId: `response_${number}`,
        usageMetadata: {
          promptTokenCount: tokens.input + tokens.cached,
          cachedContentTokenCount: tokens.cached,
          candidatesTokenCount: tokens.output - tokens.reasoning,
          thoughtsTokenCount: tokens.reasoning,
          totalTokenCount: tokens.input + tokens.cached + tokens.output,
        },
      },
    },
  ]
}
