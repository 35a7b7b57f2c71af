-- A digest or an alert may go to nobody: its messages then stand in the list alone.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_channel_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_channel_check
  CHECK (channel IN ('mail', 'webhook', 'log'));
