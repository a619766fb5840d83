// Browsers started without a locale report the language `en-US@posix`, which is invalid: formatting numbers would throw.
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
}
