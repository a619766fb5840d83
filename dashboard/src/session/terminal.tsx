// A live terminal: read only until the keyboard is taken, given back by two escapes. Loaded when a session is opened.
import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { WebglAddon } from '@xterm/addon-webgl'
import { Terminal } from '@xterm/xterm'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { TerminalFromBrowser, TerminalFromHub } from '../../../src/hub/contract.ts'
import { Button } from '../components/controls.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icons.tsx'
import { useKeys } from '../shell/keys.tsx'
import { tameTerminal } from './tame.ts'
import { TERMINAL_THEME } from './terminal-theme.ts'
import { LiveScreen } from '../components/live-screen.tsx'
import { useNarrow } from '../components/media-query.ts'
import { segment, socketUrl } from '../data/client.ts'
import { cx } from '../components/cx.ts'
import css from './session.module.css'

/** The first of two escapes waits so long for the second: to an agent, a single one means stop. */
const ESCAPES_MS = 300
const RETRY_MS = 1_500
const ESC = '\u001b'

interface Status {
  readonly cols: number
  readonly rows: number
  readonly watching: number
  readonly isYours: boolean
  readonly mayType: boolean
  readonly exit: number | null
  readonly isLive: boolean
  readonly error: string | null
}

const START: Status = {
  cols: 80,
  rows: 24,
  watching: 0,
  isYours: false,
  mayType: false,
  exit: null,
  isLive: false,
  error: null,
}

type Asked = { readonly what: 'copy'; readonly text: string } | { readonly what: 'link'; readonly url: string }

export function SessionTerminal({ session }: { readonly session: string }): ReactNode {
  const ground = useRef<HTMLDivElement>(null)
  const line = useRef<
    { readonly send: (message: TerminalFromBrowser) => void; readonly focus: () => void } | undefined
  >(undefined)
  const [status, setStatus] = useState(START)
  const [asked, setAsked] = useState<Asked | null>(null)
  const [offered, setOffered] = useState<string | null>(null)
  /** As `status.isYours`, for the emulator's handlers. */
  const isYours = useRef(false)

  useEffect(() => {
    const element = ground.current
    if (element === null) return
    const terminal = new Terminal({
      theme: TERMINAL_THEME,
      fontFamily: "'JetBrains Mono Variable', 'DejaVu Sans Mono', monospace",
      fontSize: 12,
      lineHeight: 1.1,
      cols: START.cols,
      rows: START.rows,
      scrollback: 5_000,
      disableStdin: true,
      screenReaderMode: false,
      allowProposedApi: true,
      linkHandler: { activate: (_, url) => setAsked({ what: 'link', url }), allowNonHttpProtocols: false },
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(element)
    withGraphics(terminal)
    // While the keyboard is not taken, keys belong to the page, also after a click on the terminal: the emulator would swallow them.
    terminal.attachCustomKeyEventHandler(() => isYours.current)
    const tame = tameTerminal(terminal, setOffered)

    const setKeyboard = (yours: boolean): void => {
      isYours.current = yours
      terminal.options.disableStdin = !yours
    }
    let socket: WebSocket | undefined
    let retry: ReturnType<typeof setTimeout> | undefined
    let isOver = false
    const send = (message: TerminalFromBrowser): void => {
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
    }
    const take = (message: TerminalFromHub): void => {
      if (message.type === 'reset' || message.type === 'hello' || message.type === 'state')
        terminal.resize(Math.max(2, message.cols), Math.max(1, message.rows))
      if (message.type === 'reset') terminal.reset()
      if (message.type === 'exit') isOver = true
      if (message.type === 'keyboard') setKeyboard(message.yours)
      if (message.type === 'exit') setKeyboard(false)
      setStatus((before) => after(before, message))
    }
    const again = (): void => {
      if (!isOver) retry = setTimeout(connect, RETRY_MS)
    }
    const connect = (): void => {
      socketUrl(`terminals/${segment(session)}`).then(open, again)
    }
    const open = (url: string): void => {
      if (isOver) return
      const opened = new WebSocket(url)
      opened.binaryType = 'arraybuffer'
      opened.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (typeof data === 'string') take(JSON.parse(data) as TerminalFromHub)
        else terminal.write(new Uint8Array(data))
      }
      opened.onclose = () => {
        setKeyboard(false)
        // The next connection says whether the keyboard may be taken; until then a request for it would be dropped.
        setStatus((before) => ({ ...before, isLive: false, isYours: false, mayType: false }))
        again()
      }
      socket = opened
    }
    connect()

    const type = (text: string): void => {
      if (isYours.current && socket?.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(text))
    }
    let escape: ReturnType<typeof setTimeout> | undefined
    const letGo = (): string => {
      const isHeld = escape !== undefined
      clearTimeout(escape)
      escape = undefined
      return isHeld ? ESC : ''
    }
    const typed = terminal.onData((text) => {
      if (!isYours.current) return
      if (text !== ESC) type(letGo() + text)
      else if (letGo() === '') escape = setTimeout(() => type(letGo()), ESCAPES_MS)
      else send({ type: 'keyboard', take: false })
    })
    const pasted = (event: ClipboardEvent): void => {
      const text = event.clipboardData?.getData('text')
      if (!isYours.current || text === undefined || text === '') return
      event.preventDefault()
      event.stopPropagation()
      send({ type: 'paste', text })
    }
    element.addEventListener('paste', pasted, true)
    // Watching does not change the size of the session; typing fits it to this window.
    const sizes = new ResizeObserver(() => {
      if (!isYours.current) return
      const size = fit.proposeDimensions()
      if (size !== undefined) send({ type: 'resize', cols: size.cols, rows: size.rows })
    })
    sizes.observe(element)
    line.current = { send, focus: () => terminal.focus() }
    return () => {
      isOver = true
      clearTimeout(retry)
      clearTimeout(escape)
      socket?.close()
      sizes.disconnect()
      element.removeEventListener('paste', pasted, true)
      typed.dispose()
      tame.dispose()
      terminal.dispose()
    }
  }, [session])

  /** What was offered while the keys were the program's: it is shown whole, and copied only from there. */
  const take = (copy: Asked): void => {
    setOffered(null)
    setAsked(copy)
  }
  const takeKeyboard = (): void => {
    line.current?.send({ type: 'keyboard', take: true })
    line.current?.focus()
  }
  useEffect(() => {
    const terminal = ground.current?.querySelector('textarea')
    if (terminal !== undefined && terminal !== null) terminal.readOnly = !status.isYours
  }, [status.isYours])
  useKeys(status.mayType && !status.isYours ? { i: takeKeyboard } : {})
  const isNarrow = useNarrow()
  return (
    <section className={cx('pane column', css.terminal)} aria-label="Terminal">
      <header>
        <Icon name="terminal" size={14} />
        <h3>Terminal</h3>
        <span className="second cut">{described(status)}</span>
        <span className="grow" />
        {status.isYours ? (
          <>
            <span className="is-work">You type</span>
            <Button size="small" onPress={() => line.current?.send({ type: 'keyboard', take: false })} after="Esc Esc">
              Give it back
            </Button>
          </>
        ) : (
          <>
            <span className="second row">
              <Icon name="lock" size={12} /> Read only
            </span>
            {status.mayType && (
              <Button size="small" onPress={takeKeyboard} after="i">
                Take the keyboard
              </Button>
            )}
          </>
        )}
      </header>
      {status.error !== null && (
        <p className={cx('is-clash', css.terminalError)} role="alert">
          ✕ {status.error}
        </p>
      )}
      {offered !== null && (
        <p className={cx('row', css.terminalOffer)} role="status">
          <span className="cut">The program wants to put {offered.length} characters on your clipboard</span>
          <span className="grow" />
          <Button size="small" onPress={() => take({ what: 'copy', text: offered })}>
            Look at it
          </Button>
          <Button size="small" kind="plain" onPress={() => setOffered(null)}>
            Leave it
          </Button>
        </p>
      )}
      {isNarrow && !status.isYours && (
        <LiveScreen session={session} lines={24} label="Its screen, wrapped" className={css.wrappedScreen} isOptional />
      )}
      <div className={cx('fill scroll', css.terminalBody)} ref={ground} data-live={status.isLive} />
      {asked !== null && <AskFirst asked={asked} onClose={() => setAsked(null)} />}
    </section>
  )
}

function after(before: Status, message: TerminalFromHub): Status {
  switch (message.type) {
    case 'hello':
      return {
        ...before,
        cols: message.cols,
        rows: message.rows,
        mayType: message.may_type && message.alive,
        error: null,
      }
    case 'reset':
    case 'state':
      return { ...before, cols: message.cols, rows: message.rows }
    case 'live':
      return { ...before, isLive: true }
    case 'keyboard':
      return { ...before, isYours: message.yours, watching: message.watching }
    case 'exit':
      return { ...before, exit: message.code, isYours: false, mayType: false }
    case 'error':
      return { ...before, error: `${message.code}: ${message.message}` }
    case 'gap':
      return before
  }
}

function described({ isLive, cols, rows, watching, isYours, exit }: Status): string {
  const size = `${cols}×${rows}`
  if (exit !== null) return `ended with ${exit} · ${size}`
  const watchers =
    watching > 0 ? ` · ${watching} watch${watching === 1 ? 'es' : ''}, ${isYours ? 'you type' : 'nobody types'}` : ''
  return `${isLive ? 'live' : 'connecting'} · ${size}${watchers}`
}

/** Drawn by the graphics card where there is one; the plain way is right too, only slower. */
function withGraphics(terminal: Terminal): void {
  try {
    const webgl = new WebglAddon()
    webgl.onContextLoss(() => webgl.dispose())
    terminal.loadAddon(webgl)
  } catch (error) {
    // A missing WebGL2 context is only recognisable by the message.
    if (!(error instanceof Error && /^webgl2\b/i.test(error.message))) throw error
  }
}

/** What a program asks of the browser is asked of the person first: the whole text, the whole address. */
function AskFirst({ asked, onClose }: { readonly asked: Asked; readonly onClose: () => void }): ReactNode {
  const isCopy = asked.what === 'copy'
  const act = (): void => {
    if (isCopy) void navigator.clipboard.writeText(asked.text)
    else window.open(asked.url, '_blank', 'noopener,noreferrer')
    onClose()
  }
  return (
    <Dialog label={isCopy ? 'Copy what the program sends?' : 'Open this link?'} onClose={onClose}>
      <div className="keys">
        <h2>{isCopy ? 'The program wants to put this on your clipboard' : 'The program shows a link to'}</h2>
        <pre className="asked-text">{isCopy ? asked.text : asked.url}</pre>
        <div className="row">
          <Button onPress={act}>{isCopy ? 'Copy it' : 'Open it'}</Button>
          <Button kind="plain" onPress={onClose}>
            Leave it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
