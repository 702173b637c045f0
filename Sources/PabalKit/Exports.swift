// An app writes `import PabalKit` and nothing else.
@_exported public import PabalCore
@_exported public import PabalModel
