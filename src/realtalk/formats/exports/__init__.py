"""What messengers export: one module, or one folder, per app."""
