"""What messengers export: one module, or one folder, an app."""
