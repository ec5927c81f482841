"""margrave"""
