// What a hook says back, in the form that each host honours. Anything else, and hosts go on as if nothing had been said.
import type { HookCall } from './hook-call.ts'
import { type HookHost, HOOKS } from './hook-table.ts'

/** `pass`: the host goes on by its own rules. */
export type HookVerdict =
  | { readonly kind: 'pass'; readonly context?: string | undefined; readonly warning?: string | undefined }
  | { readonly kind: 'deny'; readonly reason: string }

export interface HookOutput {
  readonly stdout: string
  readonly stderr: string
  readonly exit: 0 | 2
  /** What stands in `stdout` is a no. */
  readonly refuses?: true
}

const SILENT: HookOutput = { stdout: '', stderr: '', exit: 0 }

export function hookOutput(call: Pick<HookCall, 'host' | 'event' | 'name'>, verdict: HookVerdict): HookOutput {
  const { answers } = HOOKS[call.host]
  const body = { claude: claudeBody, gemini: geminiBody, cursor: cursorBody }[answers](call, verdict)
  if (body === undefined) return SILENT
  // Also for people: the host's own log shows stderr.
  const stderr = verdict.kind === 'deny' ? verdict.reason : (verdict.warning ?? '')
  return { stdout: JSON.stringify(body), stderr, exit: 0, ...(verdict.kind === 'deny' ? { refuses: true } : {}) }
}

/** For a payload that could not be read: there is no event to answer. Exit 2 with words is what every host takes for a no; of 0 only a message is shown to the person. */
export function blindOutput(host: HookHost, problem: string, isStrict: boolean): HookOutput {
  const stderr = `heimdall: ${problem}`
  if (isStrict) return { stdout: '', stderr, exit: 2 }
  const isShown = HOOKS[host].answers !== 'cursor'
  return { stdout: isShown ? JSON.stringify({ systemMessage: `${stderr}; nothing was checked` }) : '', stderr, exit: 0 }
}

type Body = Readonly<Record<string, unknown>> | undefined

/** Codex takes the same words, and refuses what it does not know. */
function claudeBody({ event, name, host }: Pick<HookCall, 'host' | 'event' | 'name'>, verdict: HookVerdict): Body {
  if (verdict.kind === 'deny')
    return event === 'before-tool'
      ? {
          hookSpecificOutput: {
            hookEventName: name,
            permissionDecision: 'deny',
            permissionDecisionReason: verdict.reason,
          },
        }
      : { decision: 'block', reason: verdict.reason }
  const takesContext = event === 'session-start' || event === 'prompt' || (event === 'after-tool' && host === 'claude')
  const specific =
    verdict.context === undefined || !takesContext
      ? {}
      : { hookSpecificOutput: { hookEventName: name, additionalContext: verdict.context } }
  const warning = verdict.warning === undefined ? {} : { systemMessage: verdict.warning }
  return filled({ ...specific, ...warning })
}

function geminiBody({ event }: Pick<HookCall, 'event'>, verdict: HookVerdict): Body {
  if (verdict.kind === 'deny') return { decision: 'deny', reason: verdict.reason }
  const takesContext = event === 'session-start' || event === 'prompt' || event === 'after-tool'
  const specific =
    verdict.context === undefined || !takesContext ? {} : { hookSpecificOutput: { additionalContext: verdict.context } }
  const warning = verdict.warning === undefined ? {} : { systemMessage: verdict.warning }
  return filled({ ...specific, ...warning })
}

/** By its documentation: snake case, `permission` before a tool, `continue` before a prompt. */
function cursorBody({ event }: Pick<HookCall, 'event'>, verdict: HookVerdict): Body {
  if (verdict.kind === 'deny')
    return event === 'prompt'
      ? { continue: false, user_message: verdict.reason }
      : { permission: 'deny', user_message: verdict.reason, agent_message: verdict.reason }
  if (event === 'session-start' && verdict.context !== undefined) return { additional_context: verdict.context }
  if (event === 'prompt') return { continue: true }
  return event === 'before-tool' ? { permission: 'allow' } : undefined
}

const filled = (body: Readonly<Record<string, unknown>>): Body => (Object.keys(body).length === 0 ? undefined : body)
