// SHA-256 of a text in hex, for names that must not be guessed wrong and need not be read.
import { hash } from 'node:crypto'

export const hashText = (text: string): string => hash('sha256', text, 'hex')
